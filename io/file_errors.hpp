// Errors and helpers of InputFile and OutputFile. Internal to io/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace sepconv {

/// "cannot read PATH: FACT", an IoError with this errno.
[[noreturn]] void throw_read_error(const std::filesystem::path& path, std::string_view fact, int error = 0);
[[noreturn]] void throw_write_error(const std::filesystem::path& path, std::string_view fact, int error = 0);
/// The fact is the description of the errno, with advice.
[[noreturn]] void throw_read_error(const std::filesystem::path& path, int error);
[[noreturn]] void throw_write_error(const std::filesystem::path& path, int error);

/// Description of an errno, with advice.
std::string write_error_text(int error);

/// Removes a slash at the end of a folder's name.
std::filesystem::path without_slash(const std::filesystem::path& path);
std::filesystem::path folder_of(const std::filesystem::path& path);
/// Follows symbolic links from `target` to a path that is not a link, even if no file exists there. Returns
/// `target` if it is not a link. Throws IoError.
std::filesystem::path resolve_links(const std::filesystem::path& target);
/// Throws IoError unless the folder of `target` exists and is writable.
void check_folder_of(const std::filesystem::path& target);

/// Returns the number of bytes read, which is smaller only at the end of the file; -1 with errno on failure.
std::int64_t read_fully(int descriptor, std::int64_t offset, std::span<std::byte> bytes) noexcept;
/// Writes all bytes. Returns 0 or an errno; ENOSPC also if nothing was written without an error, as some file
/// systems do on a full device.
int write_fully(int descriptor, std::int64_t offset, std::span<const std::byte> bytes) noexcept;

}  // namespace sepconv
