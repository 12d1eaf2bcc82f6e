#pragma once
// EventWriter: text that records which operation had which floating-point event. Statements whose events belong to one site are
// a unit: the flags of the floating-point unit are cleared before the unit and read after it. A loop over elements with several
// sites runs tile by tile: first with all operations fused; if that sets flags that have not been recorded for each of these
// sites, the tile is run again one operation after the other (PieceWriter).

#include <functional>
#include <map>

#include "codegen/emit/writer.h"

namespace accel {

class EventWriter : public Writer {
 public:
  using Writer::Writer;

  void statement(const Body& body, size_t position);
  void loop(const Stmt& stmt, const std::string& first, const std::string& last);
  // Statements with a loop that runs tile by tile among them (EventSites::has_repeat), and loops around such statements.
  void tile(const Body& body);
  void loop_over_tiles(const Stmt& stmt, const std::string& first, const std::string& last);

  // The text that notes `events` of a site.
  std::string record_text(int site, const std::string& events) const;

 private:
  bool needs_no_unit(const Stmt& stmt, const std::map<int, int>& sites);
  void in_one_unit(const Body& body, const std::map<int, int>& sites, const std::function<void()>& text);
  void recorded_repeat(const Stmt& stmt);
  bool has_pieces(const Stmt& stmt);
  void loop_by_pieces(const Stmt& stmt, const std::string& first, const std::string& last);
};

}  // namespace accel
