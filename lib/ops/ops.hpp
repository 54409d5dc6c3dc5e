#pragma once

#include "graph/op_def.hpp"

/// Every operation of the project, one function a definition. Each is written in the file of its name; the op that is
/// its gradient stands in the same file. Inputs in [brackets] are optional.
namespace causeway::ops {

const OpDef& embedding();           ///< tokens, table -> y
const OpDef& embedding_backward();  ///< tokens, dy, gradient -> gradient
const OpDef& positions();           ///< x, table, [past] -> y
const OpDef& positions_backward();  ///< dy, gradient -> gradient

const OpDef& linear();                  ///< x, weight, [bias], [packed], [residual] -> y, [pre_activation]
const OpDef& linear_input_gradient();   ///< dy, weight, [packed] -> dx
const OpDef& linear_weight_gradient();  ///< dy, x, weight gradient, [bias gradient] -> weight gradient, [bias
                                        ///< gradient], [partial sums of squares]
const OpDef& pack_weight();             ///< weight, [older copy] -> packed

const OpDef& attention();                    ///< qkv, [mask], [key_mask] -> out, lse
const OpDef& attention_backward();           ///< qkv, out, lse, dout, [mask], [key_mask] -> dqkv
const OpDef& attention_explicit();           ///< qkv, [mask], [key_mask] -> out, weights
const OpDef& attention_explicit_backward();  ///< qkv, weights, dout -> dqkv
const OpDef& append_kv();                    ///< qkv, cache k, cache v, past, count -> cache k, cache v
const OpDef& attention_cached();             ///< qkv, cache k, cache v, past, count -> out
const OpDef& dropout();                      ///< x -> y; its gradient is the same op on dy
const OpDef& softmax();                      ///< x -> y
const OpDef& softmax_backward();             ///< y, dy -> dx

const OpDef& layernorm();           ///< x, weight, bias -> y, mean, rstd
const OpDef& layernorm_backward();  ///< dy, x, weight, mean, rstd, weight gradient, bias gradient, [dresidual]
                                    ///< -> dx, weight gradient, bias gradient
const OpDef& rmsnorm();             ///< x, weight -> y, rstd
const OpDef& rmsnorm_backward();    ///< dy, x, weight, rstd, weight gradient, [dresidual] -> dx, weight gradient
const OpDef& qk_norm();             ///< qkv, q weight, k weight -> y, rstd
const OpDef& qk_norm_backward();    ///< dy, qkv, q weight, k weight, rstd, q weight gradient, k weight gradient
                                    ///< -> dqkv, q weight gradient, k weight gradient
const OpDef& rope();                ///< qkv, table, [past] -> y
const OpDef& rope_backward();       ///< dy, table, [past] -> dqkv

const OpDef& activation();           ///< x -> y
const OpDef& activation_backward();  ///< x, dy -> dx
const OpDef& gated();                ///< gate and up side by side -> y
const OpDef& gated_backward();       ///< gate and up, dy -> their gradients side by side
const OpDef& add();                  ///< a, b -> y

const OpDef& moe_route();                   ///< logits -> weights, experts, offsets, order, slots, scores, [score sums]
const OpDef& moe_route_backward();          ///< dweights, weights, experts, scores, [dscore sums] -> dlogits
const OpDef& moe_gather();                  ///< x, order, slots -> rows
const OpDef& moe_gather_backward();         ///< drows, slots, x -> dx
const OpDef& moe_linear();                  ///< rows, weights, offsets, [packed] -> y
const OpDef& moe_linear_input_gradient();   ///< dy, weights, offsets -> drows
const OpDef& moe_linear_weight_gradient();  ///< dy, rows, offsets, gradient -> gradient, [partial sums of squares]
const OpDef& moe_combine();                 ///< rows, weights, order, slots -> y
const OpDef& moe_combine_backward();        ///< rows, weights, order, slots, dy -> drows, dweights
const OpDef& moe_balance();           ///< targets, (offsets, score sums) of each layer... -> aux loss, expert load
const OpDef& moe_balance_backward();  ///< targets, load, score sums of each layer... -> dscore sums of each layer

const OpDef& lm_head_loss();           ///< h, weight, [bias], targets, [packed] -> loss
const OpDef& lm_head_loss_backward();  ///< h, weight, [bias], targets, [packed nt], [packed nn], [weight gradient],
                                       ///< [bias gradient] -> loss, dh, [weight gradient], [bias gradient]
const OpDef& take_last();              ///< x (B,T,D), count (B) -> row count - 1 of each batch entry (B,1,D)

const OpDef& square_sum();      ///< gradient -> partial sums of squares
const OpDef& global_norm();     ///< partial sums... -> L2 norm of all gradients together
const OpDef& update_factors();  ///< norm -> what clips and corrects the update of every parameter
const OpDef& adamw();           ///< param, gradient, factors, [packed], m, v -> param, m, v, [packed]
const OpDef& sgd();             ///< param, gradient, factors, [packed], [m] -> param, [m], [packed]

// Inputs that only fusion gives, by the passes' names for them.
inline constexpr std::size_t linear_residual_input = 4;      ///< linear's [residual]
inline constexpr std::size_t layernorm_dresidual_input = 7;  ///< layernorm_backward's [dresidual]
inline constexpr std::size_t rmsnorm_dresidual_input = 5;    ///< rmsnorm_backward's [dresidual]

}  // namespace causeway::ops
