// What InputFile and OutputFile say when the system refuses. Internal to io/.
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
/// The fact is the errno's, with the way out.
[[noreturn]] void throw_read_error(const std::filesystem::path& path, int error);
[[noreturn]] void throw_write_error(const std::filesystem::path& path, int error);

/// An errno and the way out.
std::string write_fact(int error);

/// A folder's name may end in a slash, and is the same without.
std::filesystem::path without_slash(const std::filesystem::path& path);
std::filesystem::path folder_of(const std::filesystem::path& path);
/// Where the symbolic link `target` leads in the end, whether a file is there or not; else `target` itself.
/// Throws IoError.
std::filesystem::path behind_links(const std::filesystem::path& target);
/// Throws unless there is a folder for a target, in which something can be made.
void check_folder_of(const std::filesystem::path& target);

/// The number of bytes read, short only at the end of the file; -1 and errno on failure.
std::int64_t read_fully(int descriptor, std::int64_t offset, std::span<std::byte> bytes) noexcept;
/// Writes all of it; returns 0 or an errno, of which ENOSPC also stands for nothing that was written without
/// an error, as a full device does on some file systems.
int write_fully(int descriptor, std::int64_t offset, std::span<const std::byte> bytes) noexcept;

}  // namespace sepconv
