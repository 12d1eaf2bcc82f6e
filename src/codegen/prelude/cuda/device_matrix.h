// Stacks of matrices, as products and solvers take them.
//
// Bytes from row to row, column to column and matrix to matrix.
struct MatrixSteps {
  i64 row, column, matrix;

  ACCEL_METHOD const char* at(const char* p, i64 number, i64 i, i64 j) const {
    return p + number * matrix + i * row + j * column;
  }
  ACCEL_METHOD char* at(char* p, i64 number, i64 i, i64 j) const { return p + number * matrix + i * row + j * column; }
};
