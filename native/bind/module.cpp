// The module gapless._native. Its functions release the interpreter's lock wherever they may take longer than 10 µs.
#include "bind/bind.hpp"
#include "core/freed_memory.hpp"

NB_MODULE(_native, m) {
#ifdef NDEBUG
  nanobind::set_leak_warnings(false);  // objects that a module or a cache still holds when Python ends are no leaks
#endif
  m.doc() = "The compiled core of Gapless; arrays are checked by its callers.";
  gapless::keep_freed_memory();
  gapless::bind::bind_blas(m);
  gapless::bind::bind_core(m);
  gapless::bind::bind_structure(m);
  gapless::bind::bind_interior_point(m);
  gapless::bind::bind_crammer_singer(m);
  gapless::bind::bind_l1(m);
  gapless::bind::bind_newton(m);
  gapless::bind::bind_kernels(m);
  gapless::bind::bind_sdca(m);
  gapless::bind::bind_textbook(m);
  gapless::bind::bind_products(m);
  gapless::bind::bind_proof(m);
  gapless::bind::bind_twofold(m);
  gapless::bind::bind_smo(m);
  gapless::bind::bind_every_pair(m);
  gapless::bind::bind_shared_fits(m);
}
