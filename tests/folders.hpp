// Tests name what they test without its folder.
#pragma once

namespace mha::compute {}
namespace mha::show {}
namespace mha::io {}
namespace mha::study {}
namespace mha::cli {}
namespace mha::test {
using namespace compute;
using namespace show;
using namespace io;
using namespace study;
using namespace cli;
}  // namespace mha::test
