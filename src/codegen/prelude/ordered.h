// What the kernels of a nest of mapping `ordered` share. Each address that items store to has a slot in a table: where the
// array is not much larger than the number of items, by its distance from the first; else by its hash.
struct Ordered {
  char* low;      // of the array's elements; null: not known
  i64 distance;   // from the first element to the last, in bytes
  i64 unit_bits;  // elements are at least two to this many bytes apart
  bool is_dense;  // slots are by distance
  i64 capacity;   // slots in the table; of hashed ones a power of two
  i64 shift;      // items are sorted by these eight bits of the number of their slot
  char* slots;
  unsigned *keys, *sorted_keys;    // by item: the number of its slot
  unsigned *order, *sorted_order;  // items
  i64* counts;                     // of each digit in each tile, tile by tile
};
constexpr int bytes_of_slot = 16, bytes_of_dense_slot = 4, digit_bits = 8, digits = 1 << digit_bits;
constexpr i64 items_of_tile = 4096, most_slots = (i64)1 << 32;

ACCEL_INLINE i64 tiles_of(i64 items) { return (items + items_of_tile - 1) / items_of_tile; }
