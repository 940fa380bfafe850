internal import Glibc
internal import Reading
public import HapticFormats
internal import HapticModel
public import HapticRender
public import SoundFile
internal import SystemSupport
internal import TransducerProfiles

/// The version of the program and the package, which sound files name as their software.
package let temblorVersion = "0.2.0"

/// How patterns are made into sound.
public struct RenderJob: Sendable {
  /// The profile of channels that have none of their own.
  public var profile: TransducerProfile
  /// Frames per second.
  public var rate = 48_000
  /// Channels of the file.
  public var channelCount = 1
  /// The factor on everything, 0 to 1.
  public var strength = 1.0
  /// Whether the greatest peak is brought to -1 dBFS.
  public var isNormalized = false
  /// How often the pattern is played; 0 is until the duration ends.
  public var passCount = 1
  /// Seconds of the output, or nothing for the pattern's own.
  public var duration: Double?
  /// Seconds of silence behind the sound, or nothing for as long as the hardware needs to come to rest.
  public var tail: Double?
  /// How samples are written.
  public var format = SampleFormat.s16
  /// What of the pattern is heard.
  public var buses = RenderSettings.Buses.all
  /// What the channels carry, where it is not the usual.
  public var routing = ChannelRouting()
  /// Whether the file is what the transducer would do instead of what drives it.
  public var rendersAcceleration = false
  /// How patterns are read.
  public var reading = ReadingOptions()

  /// Asked between blocks of any rendering, on any thread; where it answers true, the work is given up.
  public var isCancelled: @Sendable () -> Bool = { false }

  /// A job with the usual settings: 48 kHz, one channel, 16 bits.
  public init(profile: TransducerProfile = .phone) { self.profile = profile }

  /// Compiles a pattern for this job, on one bus.
  public func plan(_ input: PatternInput) throws -> (plan: RenderPlan, pattern: LoadedPattern) {
    let (plans, pattern) = try plans(input, for: Array(channels.profiles.prefix(1)))
    return (plans[0], pattern)
  }

  /// Compiles a pattern for profiles, those of all its haptic buses unless told otherwise.
  public func plans(_ input: PatternInput, for profiles: [TransducerProfile]? = nil) throws -> (
    plans: [RenderPlan], pattern: LoadedPattern
  ) {
    let pattern = try LoadedPattern(input, reading: reading, keepsFile: false)
    let plans = try pattern.plans(for: profiles ?? channels.profiles, rate: Double(rate))
    return (plans, pattern)
  }

  /// What the channels carry, and the profiles for it.
  public var channels: (routing: OutputRouting, profiles: [TransducerProfile]) {
    routing.routing(channelCount: channelCount, rate: Double(rate), profile: profile, buses: buses)
  }

  /// The renderer's settings for a plan.
  public func settings(for plan: RenderPlan) -> RenderSettings { settings(for: [plan]) }

  /// The renderer's settings for the plans of one pattern.
  public func settings(for plans: [RenderPlan]) -> RenderSettings {
    let seconds = Double(rate)
    let longest = plans.map(\.length).max() ?? 0
    let routing = channels.routing
    let tail = tail ?? routing.tail(rate: seconds, isRinging: rendersAcceleration)
    var length = longest + FrameConversion.frame(seconds: tail, rate: seconds)
    if passCount > 1 { length += (plans.map(\.passLength).max() ?? 0) * Int64(passCount - 1) }
    length += Int64(routing.channels.map(\.delay).max() ?? 0)
    if let duration { length = FrameConversion.frame(seconds: duration, rate: seconds) }
    let fade = min(FrameConversion.frame(seconds: OfflineRenderer.fade, rate: seconds), length)
    let silence = duration == nil ? FrameConversion.frame(seconds: tail, rate: seconds) : fade
    return RenderSettings(
      routing: routing, gain: Float(strength), passCount: passCount == 0 ? nil : passCount, length: length,
      // The fade stays behind the sound, unless the file is cut; then a cut must not click.
      fadeLength: max(min(fade, silence), min(48, length)))
  }

  /// Writes a pattern's plans as a sound file that can be sought.
  public func write(
    _ plans: [RenderPlan], title: String, to descriptor: Int32, path: String, container: SoundFileFormat.Container,
    progress: (Double) -> Void
  ) throws -> RenderStatistics {
    var settings = settings(for: plans)
    if isNormalized { settings.gain *= try normalisingGain(plans, settings) }
    let length = settings.length ?? 0
    var writer = try SoundFileWriter(
      descriptor: descriptor, path: path, format: SoundFileFormat(container: container, samples: format), rate: rate,
      channelCount: channelCount, frameCount: length, tags: SoundFileTags(rendering: title, by: sourceOfSound))
    var rendering = rendering(of: plans, settings)
    var felt = rendersAcceleration ? SimulatedAcceleration(settings.routing, rate: Double(rate)) : nil
    var block = [Float](repeating: 0, count: 4_096 * channelCount)
    while true {
      var span = block.mutableSpan
      let count = rendering.read(into: &span)
      if count == 0 { break }
      if isCancelled() { throw FileError(path, "interrupted; nothing was written") }
      felt?.replace(&block, frameCount: count)
      try writer.write(block.span.extracting(first: count * channelCount))
      progress(1 - Double(rendering.remainingFrameCount) / Double(length))
    }
    try writer.close()
    return rendering.statistics
  }

  /// A rendering of a pattern's plans, each heard where the array puts it.
  public func rendering(of plans: [RenderPlan], _ settings: RenderSettings) -> OfflineRenderer {
    OfflineRenderer(plans: plans, shares: routing.shares(rate: Double(rate)), settings: settings)
  }

  /// What shaped the sound, as the file tells it.
  private var sourceOfSound: String { routing.array.map { "array \($0.name)" } ?? "profile \(profile.name)" }

  /// The factor that brings the greatest peak just below the ceiling.
  private func normalisingGain(_ plans: [RenderPlan], _ settings: RenderSettings) throws -> Float {
    var rendering = rendering(of: plans, settings)
    var block = [Float](repeating: 0, count: 4_096 * channelCount)
    var span = block.mutableSpan
    while rendering.read(into: &span) > 0 {
      if isCancelled() { throw FileError("render", "interrupted; nothing was written") }
    }
    let peak = rendering.statistics.peak
    return peak > 0 ? Float(Renderer.maximumLevel) / peak : 1
  }
}

extension SoundFileTags {
  /// What a rendered file says about itself: its title, the program, and what shaped the sound.
  package init(rendering title: String, by source: String) {
    self.init(
      title: title, software: "Temblor \(temblorVersion)",
      comment: "\(source), rendering model \(RenderPlan.modelVersion)")
  }
}
