#pragma once

// The families of cases, one file each; main calls every one of them.
namespace causeway::bench {
void register_attention();
void register_elementwise();
void register_gemm();
void register_loss();
void register_norm();
void register_optimizer();
void register_softmax();
void register_train();
}  // namespace causeway::bench
