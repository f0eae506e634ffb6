// The element of one rank under a window over several planes, on a volume (on_volume.hpp). Private to
// sepconv/pipeline/stages.
#pragma once

#include <memory>

#include "sepconv/pipeline/stages/order_stage.hpp"

namespace sepconv {

/// Of planes of this extent. On the CPU only.
StagePtr make_order_on_volume(std::shared_ptr<const OrderStage> stage, Extent plane);

}  // namespace sepconv
