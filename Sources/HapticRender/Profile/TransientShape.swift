/// What a transient's burst is made of.
public struct TransientShape: Equatable, Sendable {
  /// One sine of the burst.
  public struct Partial: Equatable, Sendable {
    /// Its frequency as a multiple of the law's.
    public var ratio: Double
    /// Its amplitude as a multiple of the burst's.
    public var gain: Double
    /// The frequency at its end as a multiple of that at its start.
    public var glide: Double
    /// Its length as a multiple of the burst's.
    public var stretch: Double

    /// Makes a partial; the defaults are a steady sine as long as the burst.
    public init(ratio: Double = 1, gain: Double = 1, glide: Double = 1, stretch: Double = 1) {
      self.ratio = ratio
      self.gain = gain
      self.glide = glide
      self.stretch = stretch
    }
  }

  /// How long the burst is.
  public enum Length: Equatable, Sendable {
    /// A number of cycles, but not outside a range of seconds.
    case cycles(Double, seconds: ClosedRange<Double>)
    /// Seconds at sharpness 0 and at sharpness 1, linear between.
    case seconds(low: Double, high: Double)
  }

  /// How sharpness becomes the burst's frequency.
  public var frequency: FrequencyMapping
  /// How long the burst is.
  public var length: Length
  /// Amplitude at full intensity.
  public var level: Double
  /// The part of the level that intensity 0 keeps, 0…1.
  public var floor: Double
  /// Its sines.
  public var partials: [Partial]
  /// How much of the burst is a square wave at sharpness 0 and at sharpness 1, each 0…1.
  public var squareness: ClosedRange<Double>
  /// Rise in seconds, or nothing for an eighth of the burst.
  public var attack: Double?
  /// Fall in seconds, or nothing for an eighth of the burst.
  public var release: Double?

  /// The longest and shortest burst of our own profiles, in seconds.
  public static let defaultLength = Length.cycles(2, seconds: 0.008...0.040)

  /// Makes a law; the defaults are two cycles of one sine, 8–40 ms in all.
  public init(
    frequency: FrequencyMapping, length: Length = defaultLength, level: Double, floor: Double = 0,
    partials: [Partial] = [Partial()], squareness: ClosedRange<Double> = 0...0,
    attack: Double? = nil, release: Double? = nil
  ) {
    self.frequency = frequency
    self.length = length
    self.level = level
    self.floor = floor
    self.partials = partials
    self.squareness = squareness
    self.attack = attack
    self.release = release
  }

  /// The burst's length in seconds at a sharpness.
  public func seconds(atSharpness sharpness: Double) -> Double {
    switch length {
    case .cycles(let count, let range):
      let natural = count / frequency.hertz(atSharpness: sharpness)
      return min(max(natural, range.lowerBound), range.upperBound)
    case .seconds(let low, let high): return low + (high - low) * min(max(sharpness, 0), 1)
    }
  }
}
