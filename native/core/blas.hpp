// SciPy's BLAS and LAPACK, through the function pointers that scipy.linalg.cython_blas and cython_lapack export: nothing is linked, and no second
// copy is loaded. Matrices are stored by columns, as in Fortran. The bindings fill the table when the module is imported (bind/blas.cpp).
#pragma once

namespace gapless {

struct Blas {
  // C = alpha op(A) op(B) + beta C
  void (*dgemm)(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha, const double* A,
                const int* lda, const double* B, const int* ldb, const double* beta, double* C, const int* ldc) = nullptr;
  // y = alpha op(A) x + beta y
  void (*dgemv)(const char* trans, const int* m, const int* n, const double* alpha, const double* A, const int* lda, const double* x,
                const int* incx, const double* beta, double* y, const int* incy) = nullptr;
  // C = alpha A Aᵀ + beta C (trans = N) or alpha AᵀA + beta C (trans = T), one triangle
  void (*dsyrk)(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha, const double* A, const int* lda,
                const double* beta, double* C, const int* ldc) = nullptr;
  void (*ssyrk)(const char* uplo, const char* trans, const int* n, const int* k, const float* alpha, const float* A, const int* lda,
                const float* beta, float* C, const int* ldc) = nullptr;
  // B = alpha op(A)⁻¹ B (side = L) or alpha B op(A)⁻¹ (side = R), A triangular
  void (*dtrsm)(const char* side, const char* uplo, const char* transa, const char* diag, const int* m, const int* n, const double* alpha,
                const double* A, const int* lda, double* B, const int* ldb) = nullptr;
  // x = op(A)⁻¹ x, A triangular
  void (*dtrsv)(const char* uplo, const char* trans, const char* diag, const int* n, const double* A, const int* lda, double* x,
                const int* incx) = nullptr;
  // A = LLᵀ or UᵀU in place
  void (*dpotrf)(const char* uplo, const int* n, double* A, const int* lda, int* info) = nullptr;
  // B = A⁻¹ B where dpotrf has factored A
  void (*dpotrs)(const char* uplo, const int* n, const int* nrhs, const double* A, const int* lda, double* B, const int* ldb,
                 int* info) = nullptr;
  // B = A⁻¹ B for a general A, which is overwritten by its factors
  void (*dgesv)(const int* n, const int* nrhs, double* A, const int* lda, int* ipiv, double* B, const int* ldb, int* info) = nullptr;
};

extern Blas blas;

}  // namespace gapless
