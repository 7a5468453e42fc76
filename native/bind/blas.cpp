// Fills the table of native/core/blas.hpp from SciPy's capsules.
#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "core/blas.hpp"

namespace gapless::bind {
namespace {

template <class Function>
void take(const nb::object& exported, const char* name, Function& to) {
  const nb::object capsule = exported[name];
  const char* signature = PyCapsule_GetName(capsule.ptr());
  void* pointer = PyCapsule_GetPointer(capsule.ptr(), signature);
  if (pointer == nullptr) throw nb::python_error();
  to = reinterpret_cast<Function>(pointer);
}

}  // namespace

void bind_blas(nb::module_&) {
  const nb::object blas_of = nb::module_::import_("scipy.linalg.cython_blas").attr("__pyx_capi__");
  const nb::object lapack_of = nb::module_::import_("scipy.linalg.cython_lapack").attr("__pyx_capi__");
  take(blas_of, "dgemm", blas.dgemm);
  take(blas_of, "dgemv", blas.dgemv);
  take(blas_of, "dsyrk", blas.dsyrk);
  take(blas_of, "ssyrk", blas.ssyrk);
  take(blas_of, "dtrsm", blas.dtrsm);
  take(blas_of, "dtrsv", blas.dtrsv);
  take(lapack_of, "dpotrf", blas.dpotrf);
  take(lapack_of, "dpotrs", blas.dpotrs);
  take(lapack_of, "dgesv", blas.dgesv);
}

}  // namespace gapless::bind
