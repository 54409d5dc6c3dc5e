#pragma once

#include <string>
#include <string_view>

namespace causeway {

/// The name `<path>.tmp-<pid>-<n>` of something unfinished that is to become `path`. n counts in this process.
std::string next_temporary_name(const std::string& path);

/// How many such names are tried where some are taken: a killed process of the same id has left them behind.
inline constexpr int most_temporary_names = 1000;

/// True for such a name, of whatever process.
bool is_temporary_name(std::string_view name);

/// Removes from a folder what processes which no longer exist, or an earlier one with this process's id, have left
/// unfinished: files and folders. To be called before this process writes there.
void remove_abandoned(const std::string& folder);

/// The same for what was to become `path`, at any time: what this process is writing stays.
void remove_abandoned_of(const std::string& path);

/// Removes everything unfinished from a folder that nobody else writes into.
void remove_unfinished(const std::string& folder);

/// Forces the entries of a folder to the disk: a rename is lost in a power cut without it. A folder that may be written
/// but not read, or a file system without this call, gives no stronger promise. Throws IoError.
void sync_folder(const std::string& folder);

/// The folder that a path is in.
std::string folder_of(const std::string& path);

}  // namespace causeway
