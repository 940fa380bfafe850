import CSampleKernels
import RealtimeMemory
import Testing
import TestSupport

@testable import HapticRender

/// The C kernels of each variant are bit-identical to plain loops.
struct SampleKernelTests {
  /// The variants that this machine supports.
  static let levels = (0...2).filter { unsafe temblor_kernels_of(Int32($0)) != nil }

  /// The kinds of signal, which take different branches of the kernels.
  enum Kind: CaseIterable { case wave, noise, tiny, gaps, silence }

  private func kernels(_ level: Int) throws -> temblor_kernels {
    try #require(unsafe temblor_kernels_of(Int32(level))?.pointee)
  }

  private func signal(_ kind: Kind, count: Int, _ generator: inout SplitMixGenerator) -> [Float] {
    (0..<count).map { index in
      let random = Float.random(in: -1...1, using: &generator)
      switch kind {
      case .wave:
        return Float(index % 97) / 60 - 0.75
      case .noise:
        return random * 8
      case .tiny:
        return random
          * Float(
            sign: .plus, exponent: -Int.random(in: 0...140, using: &generator), significand: 1)
      case .gaps:
        return index / 37 % 3 == 0 ? 0 : random
      case .silence:
        return index % 3 == 0 ? -0.0 : 0
      }
    }
  }

  private func bits(_ samples: [Float]) -> [UInt32] { samples.map(\.bitPattern) }

  @Test(arguments: levels, Kind.allCases) func peakAndScaleEqualTheDirectComputation(
    level: Int, kind: Kind
  ) throws {
    let kernels = try kernels(level)
    var generator = SplitMixGenerator(state: 3)
    for count in [1, 7, 8, 9, 64, 255] {
      let samples = signal(kind, count: count, &generator)
      #expect(unsafe kernels.peak(samples, count) == samples.map(abs).max())
      let gain = Float.random(in: -2...2, using: &generator)
      var scaled = samples
      let peak = unsafe kernels.scale(samples, gain, &scaled, count)
      #expect(bits(scaled) == bits(samples.map { $0 * gain }))
      #expect(peak == scaled.map(abs).max())
    }
  }

  @Test(arguments: levels, [Float.nan, .infinity, -.infinity]) func aPeakThatIsNotFiniteIsNegative(
    level: Int, sample: Float
  ) throws {
    let kernels = try kernels(level)
    for index in [0, 9, 18] {
      var samples = [Float](repeating: 0.5, count: 19)
      samples[index] = sample
      #expect(unsafe kernels.peak(samples, 19) == -1)
    }
  }

  /// Returns a sine of an integer phase, by the polynomial of `SineSegment`.
  private func wave(_ phase: UInt32) -> Float {
    let x = Float(Int32(bitPattern: phase))
    let t = x * (8 / 4_294_967_296 - abs(x) * (16 / 4_294_967_296 / 4_294_967_296))
    let a = abs(t)
    var y: Float = a * 0.0008567049289643813 + 0.017381177416773756
    y = y * a + 0.19636555741596204
    y = y * a + 0.7853965076349303
    return t * y
  }

  @Test(arguments: levels) func sinesEqualTheDirectComputation(level: Int) throws {
    let kernels = try kernels(level)
    var generator = SplitMixGenerator(state: 5)
    for trial in 0..<600 {
      let count = Int.random(in: 1...256, using: &generator)
      let isSteady = trial % 3 == 0
      let glide = isSteady ? 0 : Int32.random(in: -1_000...1_000, using: &generator)
      var sine = SineSegment(
        phase: .random(in: 0...(.max), using: &generator),
        increment: .random(in: 0...(1 << 31), using: &generator) >> UInt32(trial % 20),
        glide: UInt32(bitPattern: glide))
      let start = Float.random(in: -1...1, using: &generator)
      let slope = isSteady ? 0 : Float.random(in: -1e-3...1e-3, using: &generator)
      let first = Int.random(in: 0...2_048, using: &generator)
      var bus = signal(.noise, count: count, &generator)
      var expected = bus
      unsafe kernels.sine(
        sine.phase, sine.phaseIncrement, sine.phaseIncrementSlope, start, slope, Float(first), &bus,
        count)
      for frame in 0..<count {
        expected[frame] += wave(sine.phase) * (Float(first + frame) * slope + start)
        sine.advance(by: 1)
      }
      #expect(bits(bus) == bits(expected))
    }
  }

  /// `LimiterTests` compares groups with single frames.
  @Test(arguments: levels, Kind.allCases) func groupsPassEquallyInAllVariants(
    level: Int, kind: Kind
  )
    throws
  {
    let variants = [try kernels(level), try kernels(0)]
    var generator = SplitMixGenerator(state: 15)
    func dcBlocker(_ mode: temblor_dc_mode) -> temblor_dc_blocker {
      // The offsets are above and below the thresholds.
      let maximumOffset = Float(
        sign: .plus, exponent: -Int.random(in: 4...50, using: &generator), significand: 1)
      let slowFilter = temblor_low_pass(cornerHertz: 0.5, rate: 8_000)
      let fastFilter = temblor_low_pass(cornerHertz: 2.5, rate: 8_000)
      let first =
        mode == temblor_dc_fast
        ? fastFilter : (mode == temblor_dc_slow ? slowFilter : fastFilter.withoutInput)
      return temblor_dc_blocker(
        first: first, second: mode == temblor_dc_fast ? fastFilter : fastFilter.withoutInput,
        first_offset: .random(in: -maximumOffset...maximumOffset, using: &generator),
        second_offset: .random(in: -maximumOffset...maximumOffset, using: &generator), mode: mode)
    }
    var passedCount = 0
    for _ in 0..<600 {
      let groupCount = Int.random(in: 1...17, using: &generator)
      let samples = signal(kind, count: 4 * groupCount, &generator)
      let delayed = signal(
        Kind.allCases.randomElement(using: &generator) ?? kind, count: 4 * groupCount, &generator)
      let modes = [temblor_dc_slow, temblor_dc_decaying, temblor_dc_fast]
      let blockers = modes.shuffled(using: &generator).map { dcBlocker($0) }
      var results: [[UInt32]] = []
      for kernels in variants {
        var input = samples
        var output = delayed
        var predictor = blockers[0]
        var blocker = blockers[1]
        var state = temblor_limiter_block_state()
        state.input_limit = 6
        state.output_limit = 7
        state.silence_threshold = DCBlocker.negligibleOffsetMagnitude
        state.denormal_threshold = DCBlocker.denormalOffsetMagnitude
        let passedGroupCount = unsafe kernels.pass_groups(
          &predictor, &blocker, &state, &input, &output, groupCount)
        results.append(
          bits(input + output)
            + bits([
              predictor.first_offset, predictor.second_offset, blocker.first_offset,
              blocker.second_offset,
            ])
            + bits([state.peak, state.latest, state.latest_offset, state.previous]) + [
              UInt32(passedGroupCount)
            ])
        #expect(output[..<(4 * passedGroupCount)] == samples[..<(4 * passedGroupCount)])
        passedCount += passedGroupCount
      }
      #expect(results[0] == results[1])
    }
    #expect(passedCount > 0)
  }

  @Test(arguments: levels) func momentsOfStepsEqualTheDirectComputation(level: Int) throws {
    let base = try kernels(0)
    let kernels = try kernels(level)
    var generator = SplitMixGenerator(state: 11)
    for stepLength in [1, 2, 7, 8, 9, 33, 134] {
      let weights = StepMomentWeights(stepLength: stepLength)
      // The padding after the step has a weight of 0.
      let samples = signal(.noise, count: weights.paddedFrameCount, &generator)
      let sums = unsafe kernels.step_moments(
        samples, weights.frameWeightsAndPositions.address, weights.paddedFrameCount)
      let baseSums = unsafe base.step_moments(
        samples, weights.frameWeightsAndPositions.address, weights.paddedFrameCount)
      #expect(
        bits([sums.sum, sums.first_moment, sums.second_moment, sums.energy])
          == bits([baseSums.sum, baseSums.first_moment, baseSums.second_moment, baseSums.energy]))
      let moments = unsafe weights.moments(of: samples)
      let stepSamples = samples.prefix(stepLength).map(Double.init)
      let positions = (0..<stepLength).map { (Double($0) + 0.5) / Double(stepLength) - 0.5 }
      let ramp = positions.map { $0 + 0.5 + 0.5 / Double(stepLength) }
      func isNear(_ value: Float, _ terms: [Double]) -> Bool {
        abs(Double(value) - terms.reduce(0, +)) < 1e-5 * Double(8 * stepLength)
      }
      #expect(isNear(moments.driveSum, stepSamples))
      #expect(isNear(moments.driveFirstMoment, zip(stepSamples, positions).map { $0 * $1 }))
      #expect(isNear(moments.rampWeightedDriveSum, zip(stepSamples, ramp).map { $0 * $1 }))
      #expect(
        isNear(
          moments.rampWeightedDriveFirstMoment,
          zip(zip(stepSamples, ramp), positions).map { $0.0 * $0.1 * $1 }))
      #expect(isNear(moments.driveMeanSquare, stepSamples.map { $0 * $0 / Double(stepLength) }))
    }
  }

  @Test(arguments: levels) func modelsMoveLikeSingleModels(level: Int) throws {
    let kernels = try kernels(level)
    var generator = SplitMixGenerator(state: 13)
    for groupCount in [1, 2, 3] {
      let models = (0..<16 * groupCount - 5).map {
        TransducerTolerance.Model(
          resonanceHertz: 40 + Double($0), qualityFactor: 8,
          relativeResonanceDisplacement: 1 + 0.01 * Double($0))
      }
      let lanes = FixedBuffer(count: groupCount) {
        TransducerModelLanes(
          Array(models.dropFirst(16 * $0).prefix(16)), stepLength: 33, rate: 48_000)
      }
      var expected = (0..<groupCount).map { lanes[$0] }
      let floatsPerGroup = MemoryLayout<TransducerModelLanes>.stride / 4
      for _ in 0..<100 {
        let sum = Float.random(in: -33...33, using: &generator)
        let firstMoment = Float.random(in: -8...8, using: &generator)
        let maximumNorm = unsafe kernels.advance_models(
          UnsafeMutableRawPointer(lanes.address).assumingMemoryBound(to: Float.self),
          floatsPerGroup, groupCount,
          sum, firstMoment)
        var norms: [Float] = []
        for group in 0..<groupCount {
          let lane = expected[group]
          let displacement =
            (lane.displacementToDisplacement * lane.displacementState + lane.velocityToDisplacement
              * lane.velocityState)
            + (lane.displacementPerDriveSum * sum + lane.displacementPerDriveMoment * firstMoment)
          let velocity =
            (lane.displacementToVelocity * lane.displacementState + lane.velocityToVelocity
              * lane.velocityState)
            + (lane.velocityPerDriveSum * sum + lane.velocityPerDriveMoment * firstMoment)
          expected[group].displacementState = displacement
          expected[group].velocityState = velocity
          norms.append((displacement * displacement + velocity * velocity).max())
          #expect(lanes[group].displacementState == displacement)
          #expect(lanes[group].velocityState == velocity)
        }
        #expect(maximumNorm == norms.max())
      }
      #expect(lanes[0].displacementState[0] != 0)
    }
  }
}
