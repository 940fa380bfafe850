#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// x to the power of y, for compilation; the render path has its own functions.
func raised(_ x: Double, to y: Double) -> Double { pow(x, y) }

/// The logarithm to base 2, for compilation.
func logarithm2(_ x: Double) -> Double { log2(x) }
