#pragma once

namespace causeway {

/// Instruction sets the kernels exist for, weakest first. `reference` is the plain-loop twin of every kernel.
/// In a header of its own, because the files compiled once per instruction set include no std containers.
enum class Isa { reference, sse2, avx2, avx512, neon };

}  // namespace causeway
