# Which instruction sets the SIMD kernels are compiled for, and with which flags.
# A kernel source x.simd.cpp is compiled once per ISA into its own OBJECT library, with its own namespace.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set(CAUSEWAY_ISAS sse2 avx2 avx512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(CAUSEWAY_ISAS neon)
else()
  set(CAUSEWAY_ISAS "")
endif()
set(CAUSEWAY_ISA_FLAGS_sse2 -msse2)
set(CAUSEWAY_ISA_FLAGS_avx2 -mavx2 -mfma)
set(CAUSEWAY_ISA_FLAGS_avx512 -mavx512f -mavx512cd -mavx512dq -mavx512bw -mavx512vl -mavx2 -mfma
    -mprefer-vector-width=512)
set(CAUSEWAY_ISA_FLAGS_neon "")

# causeway_isa_libraries(source...): one OBJECT library causeway_kernels_<isa> for each ISA.
# Kernels are optimised in every preset: an -O0 kernel object leaks weak inline symbols compiled for the wrong ISA.
# Contraction is on here alone: xsimd 8.1 writes the AVX-512 fma as a product and a sum.
function(causeway_isa_libraries)
  foreach(isa IN LISTS CAUSEWAY_ISAS)
    set(target causeway_kernels_${isa})
    add_library(${target} OBJECT ${ARGN})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/lib ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${target} PRIVATE ${CAUSEWAY_XSIMD} causeway_flags)
    target_compile_definitions(${target} PRIVATE CAUSEWAY_KERNEL_ISA=${isa})
    target_compile_options(${target} PRIVATE ${CAUSEWAY_ISA_FLAGS_${isa}} -O3 -fno-math-errno -fno-trapping-math)
    set_target_properties(${target} PROPERTIES CAUSEWAY_FUSES_PRODUCTS ON)
    # Each vector that passes through an inlined function of xsimd would be poisoned and cleared in memory: GCC takes
    # three times as long over a register-tiled kernel then, and the kernel itself nearly twice.
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
      target_compile_options(${target} PRIVATE -fno-sanitize-address-use-after-scope)
    endif()
    # GCC 12's own AVX-512 intrinsics trip these warnings (GCC bug 105593).
    target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-uninitialized>")
  endforeach()
endfunction()
