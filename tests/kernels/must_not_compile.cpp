// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
// Each case is a mistake that the typed indices exist to stop. The build of a case must fail; with no case
// chosen the file must compile, so that a failure means the mistake and not something else.
#include "kernels/field.hpp"
#include "kernels/vector_kernels.hpp"

using namespace curlew;

namespace {
struct Cell;
struct Face;
}  // namespace

int main() {
  const Executor executor = Executor::serial();
  Field<Face> flux(executor, 3, "flux", "m3/s");
  PrimalCochain<Face> primal(executor, 3, "flux", "m3/s");
  DualCochain<Face> dual(executor, 3, "circulation", "m2/s");
  const View<Face, Real> view = flux.view();
  const View<Face, const Real> read_only = view;
  Real value = read_only[Id<Face>(0)];
#if CASE == 1
  value = view[Id<Cell>(0)];  // a face's values by a cell's index
#elif CASE == 2
  value = view[0];  // by a bare number
#elif CASE == 3
  read_only[Id<Face>(0)] = 1;  // writing what may only be read
#elif CASE == 4
  const Id<Cell> cell = Id<Face>(0);  // one entity's index for another's
  value = cell.value();
#elif CASE == 5
  const View<Face, Real> writable = read_only;  // regaining the right to write
  value = writable[Id<Face>(0)];
#elif CASE == 6
  value = inner_product(flux, Field<Cell>(executor, 3, "pressure", "m2/s2"));  // fields of two entities
#elif CASE == 7
  primal = dual;  // a primal cochain for a dual one
#elif CASE == 8
  const Incidence<Cell, Face> faces_of_cell;
  const auto row = faces_of_cell[Id<Face>(0)];  // the row of a cell by a face's index
  value = row.size();
#endif
  return value > 0 ? 1 : 0;
}
