// The least that a program which prints through fmt can cost: the yardstick for the start of mha.
#include <fmt/core.h>

int main() {
  fmt::print("Hello, attention\n");
}
