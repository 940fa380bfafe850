import HapticModel
import HapticRender
import SystemSupport

/// The demands of a plan on the hardware of its profile, from rendering offline.
///
/// 1. The plan is rendered with the profile's limits, and the statistics of the protection stages
///    are compared block by block. This finds the first frame and the maximum of gain reduction.
/// 2. The plan is rendered without limits into a simulation of the transducer. This finds the
///    maximum excursion and the mean power that the pattern demands.
struct HardwareLoad {
  /// A gain reduction by a protection stage, with its first frame and its maximum in decibels.
  struct ProtectionEvent: Equatable {
    var frame: Int64
    var gainReductionDecibels: Double
  }

  /// The maximum excursion of the pattern, as a fraction of the limit, with its frame.
  ///
  /// The value is nil without a limit.
  private(set) var peakExcursion: (fraction: Double, frame: Int64)?
  /// The mean power of one loop pass, relative to the transducer's continuous power.
  ///
  /// The value is nil if it is unknown.
  private(set) var meanToContinuousPowerRatio: Double?
  /// The gain reduction by the excursion limiter, or nil if there is none.
  private(set) var excursionProtection: ProtectionEvent?
  /// The gain reduction by the thermal limiter, or nil if there is none.
  private(set) var powerProtection: ProtectionEvent?
  /// The first frame with gain reduction by the output limiter, and the number of such frames.
  private(set) var outputLimiterReduction: (frame: Int64, count: Int64)?

  private let limits: TransducerLimits?

  /// The maximum rendered duration, in seconds.
  ///
  /// The maximum bounds the work for a short file with a long event.
  static let maximumRenderedSeconds = 600.0

  /// The interval between two checks of the protection stages, in frames.
  ///
  /// 64 frames are 1.3 ms at 48 kHz.
  private static let blockFrameCount = 64

  /// Renders a plan with and without the limits of a profile.
  init(_ plan: RenderPlan, profile: TransducerProfile) {
    let transducerSettings = profile.transducerSettings(rate: plan.rate)
    limits = transducerSettings?.limits
    findProtectionEvents(plan, profile: profile)
    guard let limits else { return }
    var excursionSimulation = transducerSettings?.protectionModel.map {
      TransducerSimulation($0, modes: profile.hardware?.additionalResonances ?? [], rate: plan.rate)
    }
    var driveEnergy = 0.0
    var frameCount: Int64 = 0
    Self.renderBlocks(of: plan, for: profile.withoutLimits) { block, _ in
      for index in block.indices {
        driveEnergy += Double(block[index]) * Double(block[index])
        frameCount += 1
        guard let excursionLimit = limits.excursionLimitToFullScaleRatio, excursionSimulation != nil
        else {
          continue
        }
        _ = excursionSimulation?.nextAcceleration(drive: block[index])
        let excursionFraction = abs(excursionSimulation?.displacement ?? 0) / excursionLimit
        if excursionFraction > peakExcursion?.fraction ?? 0 {
          peakExcursion = (excursionFraction, frameCount)
        }
      }
    }
    guard let fullScalePowerRatio = limits.fullScaleToContinuousPowerRatio, plan.loopFrameCount > 0
    else {
      return
    }
    // The power of a sine is half that of its peak.
    let passFrameCount = min(plan.loopFrameCount, Self.maximumFrameCount(rate: plan.rate))
    meanToContinuousPowerRatio = 2 * fullScalePowerRatio * driveEnergy / Double(passFrameCount)
  }

  /// The time until the thermal gain reduction of a looped pattern, in seconds.
  ///
  /// At this time, the gain is reduced to the continuous power. The value is nil if this never
  /// happens.
  ///
  /// The temperature rises towards the mean power with two time constants, of the coil and of the
  /// magnet. The time at which it reaches the target is found by bisection.
  var secondsToThermalLimit: Double? {
    let targetRiseFraction = TransducerLimits.targetTemperatureRiseFraction
    guard let thermalLimits = limits?.thermal, let meanToContinuousPowerRatio,
      meanToContinuousPowerRatio > targetRiseFraction
    else {
      return nil
    }
    func temperatureRise(after seconds: Double) -> Double {
      let coilRise =
        thermalLimits.coilFractionOfTemperatureRise
        * (1
          - NumberFormatting.decayFactor(
            timeConstants: seconds / thermalLimits.coilTimeConstantSeconds))
      let magnetTimeConstants = seconds / thermalLimits.magnetTimeConstantSeconds
      let magnetRise =
        (1 - thermalLimits.coilFractionOfTemperatureRise)
        * (1 - NumberFormatting.decayFactor(timeConstants: magnetTimeConstants))
      return meanToContinuousPowerRatio * (coilRise + magnetRise)
    }
    var lowerSeconds = 0.0
    var upperSeconds = 1.0
    while temperatureRise(after: upperSeconds) < targetRiseFraction, upperSeconds < 1e7 {
      upperSeconds *= 2
    }
    for _ in 0..<50 {
      let middleSeconds = (lowerSeconds + upperSeconds) / 2
      if temperatureRise(after: middleSeconds) < targetRiseFraction {
        lowerSeconds = middleSeconds
      } else {
        upperSeconds = middleSeconds
      }
    }
    return upperSeconds
  }

  /// Renders the plan with limits, and records the start and the maximum of each gain reduction.
  private mutating func findProtectionEvents(_ plan: RenderPlan, profile: TransducerProfile) {
    var previousStatistics = RenderStatistics()
    Self.renderBlocks(of: plan, for: profile) { _, current in
      // The frame includes the delay of the limiter: protection reacts to an event before it is
      // heard.
      let frame = current.frameCount
      let gainReductionDecibels = -NumberFormatting.decibels(
        ofAmplitude: current.minimumProtectionGain)
      let isMaximum = current.minimumProtectionGain < previousStatistics.minimumProtectionGain
      func record(in event: inout ProtectionEvent?) {
        if event == nil {
          event = ProtectionEvent(frame: frame, gainReductionDecibels: gainReductionDecibels)
        }
        if isMaximum {
          event?.gainReductionDecibels = gainReductionDecibels
        }
      }
      if current.excursionLimitedFrameCount > previousStatistics.excursionLimitedFrameCount {
        record(in: &excursionProtection)
      }
      if current.powerLimitedFrameCount > previousStatistics.powerLimitedFrameCount {
        record(in: &powerProtection)
      }
      if current.limitedFrameCount > previousStatistics.limitedFrameCount {
        outputLimiterReduction = (outputLimiterReduction?.frame ?? frame, current.limitedFrameCount)
      }
      previousStatistics = current
    }
  }

  /// Returns the maximum number of rendered frames.
  private static func maximumFrameCount(rate: Double) -> Int64 {
    FrameConversion.frame(seconds: maximumRenderedSeconds, rate: rate)
  }

  /// Renders one channel of a plan for the hardware of a profile, in blocks.
  ///
  /// Rendering ends at the maximum duration.
  ///
  /// - Parameters:
  ///   - plan: The plan to render.
  ///   - profile: The profile with the hardware.
  ///   - body: Receives the samples of each block and the statistics after it.
  private static func renderBlocks(
    of plan: RenderPlan, for profile: TransducerProfile,
    _ body: (ArraySlice<Float>, RenderStatistics) -> Void
  ) {
    let routing = OutputRouting().assigningTransducers(of: [profile])
    var renderer = OfflineRenderer(plan: plan, settings: RenderSettings(routing: routing))
    var sampleBlock = [Float](repeating: 0, count: blockFrameCount)
    let maximumFrameCount = maximumFrameCount(rate: plan.rate)
    while renderer.statistics.frameCount < maximumFrameCount {
      var blockSpan = sampleBlock.mutableSpan
      let readCount = renderer.read(into: &blockSpan)
      if readCount == 0 { return }
      body(sampleBlock[..<readCount], renderer.statistics)
    }
  }
}

extension TransducerProfile {
  /// The profile with limits so high that no signal reaches them.
  fileprivate var withoutLimits: TransducerProfile {
    var unlimitedProfile = self
    unlimitedProfile.hardware?.maximumAccelerationInG = 0.001
    unlimitedProfile.hardware?.maximumExcursionMillimeters = 1_000_000
    unlimitedProfile.hardware?.continuousWatts = 1_000_000
    unlimitedProfile.hardware?.peakWatts = nil
    unlimitedProfile.amplifier.fullScaleWatts = 0.000_001
    return unlimitedProfile
  }
}
