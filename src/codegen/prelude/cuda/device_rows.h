// Arrays as rows along an axis.
//
// Where the elements of rows lie: the axes beside that of the rows, and the bytes from element to element of a row.
constexpr int most_row_axes = 63;
struct RowLayout {
  i64 rank, shape[most_row_axes], steps[most_row_axes], along;

  ACCEL_METHOD i64 offset(i64 row) const {
    i64 bytes = 0;
    for (i64 k = rank; k-- > 0; row /= shape[k]) bytes += row % shape[k] * steps[k];
    return bytes;
  }
};
