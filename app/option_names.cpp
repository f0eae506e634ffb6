#include "option_names.hpp"

namespace sepconv::app {

std::string with_flags(std::string_view text) {
  struct Name {
    std::string_view member, flag;
  };
  constexpr Name names[] = {
      {"OpenOptions::page", "--page"},
      {"OpenOptions::select", "--page"},
      {"OpenOptions::axes", "--axes"},
      {"OpenOptions::raw", "--raw"},
      {"OpenOptions::missing_chunks = error", "--missing-chunks error"},
      {"OpenOptions::missing_chunks = fill", "--missing-chunks fill"},
      {"OpenOptions::missing_chunks", "--missing-chunks"},
      {"CreateOptions::overwrite", "--force"},
      {"OutputRequest::compression", "--compress"},
      {"OutputRequest::tile", "--tile"},
      {"OutputRequest::planar", "--planar"},
      {"OutputRequest::shard", "--shard"},
      {"OutputRequest::zarr", "--zarr"},
      {"OutputRequest::no_predictor", "--no-predictor"},
      {"OutputRequest::pyramid = false", "--pyramid none"},
      {"OutputRequest::pyramid", "--pyramid"},
      {"OutputRequest::nearest_levels", "--pyramid nearest"},
      {"OutputRequest::cog", "--cog"},
      {"OutputRequest::big_tiff = true", "--big-tiff"},
      {"OutputRequest::big_tiff = false", "--classic-tiff"},
      {"FileOptions::orient", "--orient"},
      {"OutputRequest::to_8bit", "--to-8bit"},
      {"OutputRequest::range_of_8bit", "--to-8bit=LOW:HIGH"},
      {"OutputRequest::background = white", "--background=white"},
      {"OutputRequest::background", "--background"},
      {"PlanOptions::max_memory_bytes", "--max-memory"},
      {"PlanOptions::max_device_memory_bytes", "--max-device-memory"},
      {"PlanOptions::devices", "--device"},
      {"PlanOptions::threads", "--threads"},
      {"PlanOptions::slots", "--slots"},
      {"PlanOptions::band_rows", "--band-rows"},
      {"PlanOptions::band_cols", "--band-cols"},
      {"PlanOptions::region", "--region"},
      {"resume_file()", "--resume"},
      {"run_part()", "--part"},
      {"finish_file()", "finish"},
      {"Partial::discard()", "--discard"},
      {"permute_file()", "sepconv transpose --perm"},
      {"MissingOptions::none", "--nodata none"},
      {"MissingOptions::value", "--nodata"},
      {"MissingOptions::all_channels", "--nodata-bands"},
      {"MissingOptions::result", "--result-nodata"},
      {"MissingOptions::alpha_rule", "--alpha"},
  };
  std::string words(text);
  for (const auto& [member, flag] : names) {
    for (std::size_t at = 0; (at = words.find(member, at)) != words.npos; at += flag.size())
      words.replace(at, member.size(), flag);
  }
  return words;
}

}  // namespace sepconv::app
