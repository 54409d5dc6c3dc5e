#pragma once

// The families of cases, one file each; main calls every one of them.
namespace causeway::bench {
void register_attention();
void register_gemm();
void register_softmax();
}  // namespace causeway::bench
