#pragma once

// The families of cases, one function each; main calls every one of them.
namespace causeway::bench {
void register_attention();
void register_attention_growth();
void register_decode();
void register_elementwise();
void register_gemm();
void register_lm_head();
void register_loss();
void register_norm();
void register_optimizer();
void register_softmax();
void register_stream();
void register_tokenize();
void register_train();
void register_train_growth();
}  // namespace causeway::bench
