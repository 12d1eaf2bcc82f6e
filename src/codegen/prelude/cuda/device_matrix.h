// Stacks of matrices, as products and solvers take them.
template <class T>
ACCEL_DEVICE T conjugated(T a) {
  return a;
}
template <class R>
ACCEL_DEVICE complex_of<R> conjugated(complex_of<R> a) {
  return {a.re, -a.im};
}

// Bytes from row to row, column to column and matrix to matrix.
struct MatrixSteps {
  i64 row, column, matrix;

  ACCEL_METHOD const char* at(const char* p, i64 number, i64 i, i64 j) const {
    return p + number * matrix + i * row + j * column;
  }
  ACCEL_METHOD char* at(char* p, i64 number, i64 i, i64 j) const { return p + number * matrix + i * row + j * column; }
};
