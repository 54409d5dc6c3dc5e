#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace causeway {

/// The files that a path of section "data" stands for: the file itself; what a pattern with *, ? or [..] matches, when
/// no file has that very name; or the files directly inside a folder whose names end as those of the source do (text:
/// any; jsonl and chat: .jsonl, .json; tokens: .bin, .npy) and don't begin with a dot. Sorted by the bytes of their
/// names, whatever the locale: "part_10" is before "part_2". Throws IoError, naming the field, when there is none.
std::vector<std::string> files_of_path(const std::string& path, DataSource source, const std::string& field);

/// Every file that section "data" of a config reads, the tokenizer among them; what is not there is left out. For those
/// who must not overwrite one of them.
std::vector<std::string> data_files(const DataConfig& data);

}  // namespace causeway
