#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// The file format of TensorBoard: TFRecords (a length and a payload, each with a checksum) of Event messages in
/// protocol buffers' wire format.
namespace causeway::tensorboard {

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4): of "123456789" it is 0xe3069283.
std::uint32_t crc32c(std::string_view bytes);

/// A record with this payload, as TFRecord files hold it: length (u64), checksum of the length (u32), payload, its
/// checksum, all little-endian. Checksums are masked: rotated right by 15 bits, plus 0xa282ead8.
std::string record(std::string_view payload);

}  // namespace causeway::tensorboard
