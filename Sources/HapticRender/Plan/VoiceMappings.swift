internal import CMath
internal import RealtimeMemory

/// Factors on amplitude over sharpness, at points of equal distance from 0 to 1: a plan keeps them, the render path
/// reads them in place.
final class LevelTables {
  /// How many points a table has.
  static let pointCount = 33

  /// Whether all factors of continuous events, and all of bursts, are 1.
  let areEven: (levels: Bool, bursts: Bool)
  /// Whether sensation grows alike everywhere.
  let isGrowthEven: Bool
  /// The greatest exponent of continuous events.
  let steepest: Double
  /// The factors of continuous events, those of bursts, then what the amplitudes of each are raised to.
  fileprivate let memory: FixedBuffer<Float>

  /// Tables of factors and of exponents, by default all 1.
  init(levels: [Double], bursts: [Double], growths: [Double] = even, burstGrowths: [Double] = even) {
    areEven = (!levels.contains { $0 != 1 }, !bursts.contains { $0 != 1 })
    isGrowthEven = !(growths + burstGrowths).contains { $0 != 1 }
    steepest = growths.max() ?? 1
    memory = FixedBuffer((levels + bursts + growths + burstGrowths).map { Float($0) })
  }

  /// A table of which nothing depends on sharpness.
  static let even = [Double](repeating: 1, count: pointCount)
}

/// A profile's laws in the form the render path evaluates: cycles per frame in 2³² parts, base-2 logarithms.
struct VoiceMappings: BitwiseCopyable, Sendable {
  /// Octaves from the corner frequency of brightness 0, 200 Hz, to that of brightness 1.
  private static let brightnessOctaves: Float = 6.5

  private enum Shape: UInt8, BitwiseCopyable, Sendable { case linear, square, power, sensation }

  private var shape: Shape
  private var exponent: Float
  /// How much of its value intensity may move along a straight line: a tenth under the square law.
  private(set) var levelShare: Float
  private var lowIncrement: Float
  private var incrementRange: Float
  private var octaves: Float
  /// Whether the phase step is an exponential of sharpness; otherwise it is a line.
  private(set) var isLogarithmic: Bool
  private var isLevelEven: Bool
  private var levels: BufferView<Float>
  private var isBurstLevelEven: Bool
  private var burstLevels: BufferView<Float>
  private var isGrowthEven: Bool
  private var growths: BufferView<Float>
  private var burstGrowths: BufferView<Float>
  private var middlePitchIncrement: Float
  private var highestIncrement: Float
  private var darkestShare: Float
  private var burstOctaves: Float
  private var burstRise: Float
  private var isBurstLogarithmic: Bool
  private var burstFloor: Float

  /// Prepares a profile's laws for a frame rate, with its factors on amplitude over sharpness, which the caller keeps
  /// alive.
  init(_ profile: TransducerProfile, tables: LevelTables, rate: Double) {
    let step = 4_294_967_296 / rate
    let law = profile.frequency
    lowIncrement = Float(law.low * step)
    incrementRange = Float((law.high - law.low) * step)
    octaves = Float(logarithm2(law.high / law.low))
    isLogarithmic = law.scale == .logarithmic
    middlePitchIncrement = Float(AudioTone.middleHertz(of: profile) * step)
    highestIncrement = Float(4_294_967_296 * AudioTone.highestShareOfRate)
    darkestShare = Float(2 * Double.pi * 200 / rate)
    let burst = profile.transient.frequency
    burstOctaves = Float(logarithm2(burst.high / burst.low))
    burstRise = Float(burst.high / burst.low - 1)
    isBurstLogarithmic = burst.scale == .logarithmic
    burstFloor = Float(profile.transient.floor)
    let steepest = tables.steepest
    switch profile.intensity {
    case .power(let exponent):
      shape = exponent == 1 ? .linear : (exponent == 2 ? .square : .power)
      self.exponent = Float(exponent)
      levelShare = Float(0.2 / max(exponent * steepest, 2))
    case .sensation(let decibels):
      shape = .sensation
      exponent = Float(decibels * logarithm2(10) / 20)
      // As many decibels as the square law moves in a tenth.
      levelShare = Float(1.7 / max(decibels * steepest, 17))
    }
    let all = unsafe tables.memory.view
    let count = LevelTables.pointCount
    (isLevelEven, isBurstLevelEven) = tables.areEven
    levels = all.part(from: 0, count: count)
    burstLevels = all.part(from: count, count: count)
    isGrowthEven = tables.isGrowthEven
    growths = all.part(from: 2 * count, count: count)
    burstGrowths = all.part(from: 3 * count, count: count)
  }

  /// The phase step of a sharpness in 0…1.
  @_noLocks @inline(__always) func increment(sharpness: Float) -> Float {
    isLogarithmic ? lowIncrement * RealtimeMath.exp2(octaves * sharpness) : lowIncrement + incrementRange * sharpness
  }

  /// The phase step of a pitch in −1…1, an octave to each side.
  @_noLocks @inline(__always) func increment(pitch: Float) -> Float { middlePitchIncrement * RealtimeMath.exp2(pitch) }

  /// A phase step times a partial's ratio, kept below the frequencies that would alias.
  @_noLocks @inline(__always) func bounded(_ increment: Float) -> UInt32 {
    UInt32(increment < highestIncrement ? increment : highestIncrement)
  }

  /// The low-pass of a brightness in 0…1: from 200 Hz, four octaves and more each way, to no filter at 1.
  @_noLocks func smoothing(brightness: Float) -> Float {
    guard brightness < 1 else { return 1 }
    let share = darkestShare * RealtimeMath.exp2(Self.brightnessOctaves * brightness)
    return share < 1 ? share : 1
  }

  /// The amplitude of an intensity in 0…1 at a sharpness in 0…1.
  @_noLocks @inline(__always) func amplitude(intensity: Float, sharpness: Float) -> Float {
    let shaped = isGrowthEven ? shaped(intensity) : grown(shaped(intensity), by: growths, at: sharpness)
    if isLevelEven { return shaped }
    let amplitude = shaped * level(sharpness: sharpness)
    return amplitude < 1 ? amplitude : 1
  }

  /// The factor of an intensity in 0…1 on a sampled signal's level: 1 at full intensity, at any sharpness.
  @_noLocks @inline(__always) func share(ofIntensity intensity: Float) -> Float {
    intensity < 1 ? shaped(intensity) : 1
  }

  /// The amplitude of a burst of weight 1.
  @_noLocks func burstAmplitude(intensity: Float, sharpness: Float) -> Float {
    guard intensity > 0 else { return 0 }
    var amplitude = burstFloor + (1 - burstFloor) * shaped(intensity)
    if !isGrowthEven { amplitude = grown(amplitude, by: burstGrowths, at: sharpness) }
    return isBurstLevelEven ? amplitude : amplitude * Self.value(of: burstLevels, at: sharpness)
  }

  /// The factor between a burst's frequencies at two sharpnesses in 0…1.
  @_noLocks func burstRatio(from planned: Float, to wanted: Float) -> Float {
    isBurstLogarithmic
      ? RealtimeMath.exp2(burstOctaves * (wanted - planned)) : (1 + burstRise * wanted) / (1 + burstRise * planned)
  }

  @_noLocks @inline(__always) private func shaped(_ intensity: Float) -> Float {
    switch shape {
    case .linear: intensity
    case .square: intensity * intensity
    case .power: intensity > 0 ? RealtimeMath.exp2(exponent * RealtimeMath.log2(intensity)) : 0
    case .sensation: intensity > 0 ? RealtimeMath.exp2(exponent * (intensity - 1)) : 0
    }
  }

  /// An amplitude raised to what a table says at a sharpness.
  @_noLocks private func grown(_ amplitude: Float, by growths: BufferView<Float>, at sharpness: Float) -> Float {
    guard amplitude > 0 else { return 0 }
    let growth = Self.value(of: growths, at: sharpness)
    return RealtimeMath.exp2(growth * RealtimeMath.log2(amplitude))
  }

  /// The profile's factor on amplitude at a sharpness.
  @_noLocks private func level(sharpness: Float) -> Float { isLevelEven ? 1 : Self.value(of: levels, at: sharpness) }

  /// A value of a table, on a line between its points.
  @_noLocks private static func value(of levels: BufferView<Float>, at sharpness: Float) -> Float {
    let place = sharpness * Float(levels.count &- 1)
    var index = Int(place)
    if index > levels.count &- 2 { index = levels.count &- 2 }
    let low = levels[index]
    return low + (levels[index &+ 1] - low) * (place - Float(index))
  }
}

/// x to the power of y, for compilation; the render path has its own functions.
func raised(_ x: Double, to y: Double) -> Double { pow(x, y) }

/// The logarithm to base 2, for compilation.
func logarithm2(_ x: Double) -> Double { log2(x) }

/// An amplitude in decibels.
func decibels(ofAmplitude x: Double) -> Double { 20 * logarithm2(x) / logarithm2(10) }
