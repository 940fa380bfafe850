internal import HapticFormats
internal import HapticModel

/// What stands in for the vibrations that every device has its own recordings of.
///
/// Android names them and publishes no waveforms; the events here are approximations by their
/// descriptions, and the lengths are guesses. This is the one table of them.
enum VibrationPrimitives {
  /// Vibrations that can follow each other, with the names of vibration XML.
  enum Primitive: String, CaseIterable, Sendable {
    case lowTick = "low_tick"
    case tick
    case click
    case slowRise = "slow_rise"
    case quickRise = "quick_rise"
    case quickFall = "quick_fall"
    case spin
    case thud
  }

  /// Vibrations that are whole effects, with the names of vibration XML.
  enum Predefined: String, CaseIterable, Sendable {
    case tick
    case click
    case heavyClick = "heavy_click"
    case doubleClick = "double_click"
  }

  /// What a vibration is made of.
  struct Shape: Sendable {
    /// A transient, with the milliseconds before it.
    struct Transient: Sendable {
      var delay = 0
      var intensity: Float
      var sharpness: Float
    }

    /// A continuous event of intensities along straight lines, by milliseconds.
    struct Swell: Sendable {
      var points: [(time: Int, intensity: Float)]
      var sharpness: Float
    }

    /// Milliseconds after which the next can begin.
    var length: Int
    var transients: [Transient] = []
    var swell: Swell?

    /// One transient.
    static func tap(_ intensity: Float, _ sharpness: Float, length: Int) -> Shape {
      Shape(length: length, transients: [Transient(intensity: intensity, sharpness: sharpness)])
    }
  }

  static func shape(of primitive: Primitive) -> Shape {
    switch primitive {
    case .click: click
    case .tick: tick
    case .lowTick: lowTick
    case .thud: thud
    case .slowRise: slowRise
    case .quickRise: quickRise
    case .quickFall: quickFall
    case .spin: spin
    }
  }

  static func shape(of predefined: Predefined) -> Shape {
    switch predefined {
    case .click: click
    case .tick: tick
    case .heavyClick: heavyClick
    case .doubleClick: doubleClick
    }
  }

  private static let click = Shape.tap(1, 0.5, length: 12)
  private static let tick = Shape.tap(0.6, 0.8, length: 8)
  private static let lowTick = Shape.tap(0.4, 0.3, length: 12)
  private static let thud = Shape(
    length: 80, transients: [.init(intensity: 1, sharpness: 0.05)],
    swell: .init(points: [(0, 1), (80, 0)], sharpness: 0.05))
  private static let slowRise = Shape(length: 500, swell: .init(points: [(0, 0), (500, 1)], sharpness: 0.5))
  private static let quickRise = Shape(length: 150, swell: .init(points: [(0, 0), (150, 1)], sharpness: 0.5))
  private static let quickFall = Shape(length: 100, swell: .init(points: [(0, 1), (100, 0)], sharpness: 0.5))
  private static let spin = Shape(
    length: 150, swell: .init(points: [(0, 0), (38, 1), (75, 0), (113, 1), (150, 0)], sharpness: 0.5))
  private static let heavyClick = Shape.tap(1, 0.35, length: 16)
  private static let doubleClick = Shape(
    length: 112, transients: [.init(intensity: 1, sharpness: 0.5), .init(delay: 100, intensity: 1, sharpness: 0.5)])

  /// The primitive that stands for a transient, with the factor on its strength, and how far both
  /// are from the transient at most.
  static func nearest(intensity: Double, sharpness: Double) -> (primitive: Primitive, scale: Float, error: Double) {
    let taps: [Primitive] = [.click, .tick, .lowTick]
    var best: (primitive: Primitive, scale: Float, error: Double)?
    for primitive in taps {
      guard let tap = shape(of: primitive).transients.first else { continue }
      let scale = min(intensity / Double(tap.intensity), 1)
      let error = max(abs(intensity - scale * Double(tap.intensity)), abs(sharpness - Double(tap.sharpness)))
      if best.map({ error < $0.error }) ?? true { best = (primitive, Float(scale), error) }
    }
    return best ?? (.click, Float(intensity), 1)
  }
}
