import Glibc
import SignalPlots

/// The types of color vision.
///
/// Source: Machado, Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color
/// Vision Deficiency", IEEE TVCG 15 (2009), matrices for severity 1, applied to linear light.
enum ColorVision: CaseIterable {
  case normal, protanopia, deuteranopia, tritanopia

  private var matrix: [[Double]] {
    switch self {
    case .normal:
      [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    case .protanopia:
      [
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
      ]
    case .deuteranopia:
      [
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
      ]
    case .tritanopia:
      [
        [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
      ]
    }
  }

  /// Returns the perceived color.
  func perceivedColor(_ color: PlotColor) -> PerceivedColor {
    func linear(_ component: Double) -> Double {
      component <= 0.04045 ? component / 12.92 : pow((component + 0.055) / 1.055, 2.4)
    }
    let light = [linear(color.red), linear(color.green), linear(color.blue)]
    return PerceivedColor(
      linear: matrix.map { row in min(max(zip(row, light).reduce(0) { $0 + $1.0 * $1.1 }, 0), 1) })
  }
}

/// A color in CIELAB with the white point D65.
struct PerceivedColor {
  let lightness: Double
  let a: Double
  let b: Double

  init(linear light: [Double]) {
    let x = 0.4124 * light[0] + 0.3576 * light[1] + 0.1805 * light[2]
    let y = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
    let z = 0.0193 * light[0] + 0.1192 * light[1] + 0.9505 * light[2]
    func curve(_ t: Double) -> Double {
      t > 216.0 / 24_389 ? cbrt(t) : (24_389.0 / 27 * t + 16) / 116
    }
    let fx = curve(x / 0.95047)
    let fy = curve(y)
    let fz = curve(z / 1.08883)
    lightness = 116 * fy - 16
    a = 500 * (fx - fy)
    b = 200 * (fy - fz)
  }

  /// Returns the color difference ΔE (CIE 1976).
  func distance(to other: PerceivedColor) -> Double {
    let differences = [lightness - other.lightness, a - other.a, b - other.b]
    return differences.reduce(0) { $0 + $1 * $1 }.squareRoot()
  }
}
