import HapticRender
import SystemSupport

/// What a plan asks of the hardware of its profile, found by rendering it without a device.
struct HardwareLoad {
  /// Something that happens from a frame on, and how much the drive is taken back for it.
  struct ProtectionEvent: Equatable {
    var frame: Int64
    var decibels: Double
  }

  /// The greatest movement that is asked for as a share of its limit, and where; nothing without a limit.
  private(set) var excursion: (share: Double, frame: Int64)?
  /// The mean power of a pass of a loop as a share of the continuous power; nothing where that is not known.
  private(set) var meanPower: Double?
  /// Where the drive is held back for the movement's sake.
  private(set) var heldForExcursion: ProtectionEvent?
  /// Where it is held back for the temperature's.
  private(set) var heldForPower: ProtectionEvent?
  /// The first frame that is turned down to the ceiling, and how many are.
  private(set) var limited: (frame: Int64, count: Int64)?

  private let limits: TransducerLimits?

  /// Frames between two looks at what has happened: 1.3 ms.
  private static let look = 64

  /// Renders a plan twice: held back as it is when it is played, and as the pattern asks for it.
  init(_ plan: RenderPlan, profile: TransducerProfile) {
    let settings = profile.transducerSettings(rate: plan.rate)
    limits = settings?.limits
    findInterventions(plan, profile)
    guard let limits else { return }
    var simulation = settings?.model.map {
      TransducerSimulation($0, modes: profile.hardware?.modes ?? [], rate: plan.rate)
    }
    var squares = 0.0
    var frame: Int64 = 0
    Self.render(plan, for: profile.unlimited) { block, _ in
      for index in block.indices {
        squares += Double(block[index]) * Double(block[index])
        frame += 1
        guard let limit = limits.excursion, simulation != nil else { continue }
        _ = simulation?.acceleration(drive: block[index])
        let share = abs(simulation?.displacement ?? 0) / limit
        if share > excursion?.share ?? 0 { excursion = (share, frame) }
      }
    }
    guard let power = limits.power, plan.loopLength > 0 else { return }
    // A sine has half the power of its peak.
    meanPower = 2 * power * squares / Double(plan.loopLength)
  }

  /// Seconds of a loop after which it is held back to the power that it can have for ever, or nothing where it never
  /// is.
  var secondsToThermalLimit: Double? {
    let aim = TransducerLimits.powerAim
    guard let thermal = limits?.thermal, let meanPower, meanPower > aim else { return nil }
    func temperatureRise(_ seconds: Double) -> Double {
      let coil = thermal.coilFraction * (1 - NumberFormatting.decay(seconds / thermal.coilTimeConstant))
      let magnet = (1 - thermal.coilFraction) * (1 - NumberFormatting.decay(seconds / thermal.magnetTimeConstant))
      return meanPower * (coil + magnet)
    }
    var low = 0.0
    var high = 1.0
    while temperatureRise(high) < aim, high < 1e7 { high *= 2 }
    for _ in 0..<50 {
      let middle = (low + high) / 2
      if temperatureRise(middle) < aim { low = middle } else { high = middle }
    }
    return high
  }

  private mutating func findInterventions(_ plan: RenderPlan, _ profile: TransducerProfile) {
    var before = RenderStatistics()
    Self.render(plan, for: profile) { _, now in
      // The limiter's delay included: what acts on an event acts before it is heard.
      let frame = now.frameCount
      let held = -NumberFormatting.decibels(now.minimumProtectionGain)
      let isDeeper = now.minimumProtectionGain < before.minimumProtectionGain
      func note(_ intervention: inout ProtectionEvent?) {
        if intervention == nil { intervention = ProtectionEvent(frame: frame, decibels: held) }
        if isDeeper { intervention?.decibels = held }
      }
      if now.excursionLimitedFrameCount > before.excursionLimitedFrameCount { note(&heldForExcursion) }
      if now.powerLimitedFrameCount > before.powerLimitedFrameCount { note(&heldForPower) }
      if now.limitedFrameCount > before.limitedFrameCount { limited = (limited?.frame ?? frame, now.limitedFrameCount) }
      before = now
    }
  }

  /// Renders one channel for a profile's hardware, and hands over a few frames at a time.
  private static func render(
    _ plan: RenderPlan, for profile: TransducerProfile, _ take: (ArraySlice<Float>, RenderStatistics) -> Void
  ) {
    let routing = OutputRouting().fitted(to: [profile])
    var rendering = OfflineRenderer(plan: plan, settings: RenderSettings(routing: routing))
    var block = [Float](repeating: 0, count: look)
    while true {
      var span = block.mutableSpan
      let count = rendering.read(into: &span)
      if count == 0 { return }
      take(block[..<count], rendering.statistics)
    }
  }
}

extension TransducerProfile {
  /// The same drive for hardware that bears anything.
  fileprivate var unlimited: TransducerProfile {
    var profile = self
    profile.hardware?.acceleration = 0.001
    profile.hardware?.excursion = 1_000_000
    profile.hardware?.continuousPower = 1_000_000
    profile.hardware?.peakPower = nil
    profile.amplifier.power = 0.000_001
    return profile
  }
}
