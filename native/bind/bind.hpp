// The functions of this folder that module.cpp calls: each binds one folder of native/, or a part of one.
#pragma once

#include <nanobind/nanobind.h>

namespace gapless::bind {

void bind_blas(nanobind::module_& m);
void bind_core(nanobind::module_& m);
void bind_interior_point(nanobind::module_& m);
void bind_crammer_singer(nanobind::module_& m);
void bind_l1(nanobind::module_& m);
void bind_newton(nanobind::module_& m);
void bind_kernels(nanobind::module_& m);
void bind_sdca(nanobind::module_& m);
void bind_textbook(nanobind::module_& m);
void bind_products(nanobind::module_& m);
void bind_structure(nanobind::module_& m);
void bind_proof(nanobind::module_& m);
void bind_twofold(nanobind::module_& m);
void bind_smo(nanobind::module_& m);
void bind_every_pair(nanobind::module_& m);
void bind_shared_fits(nanobind::module_& m);

}  // namespace gapless::bind
