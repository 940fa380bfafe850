import CSampleKernels
import RealtimeMemory
import Testing
import TestSupport

@testable import HapticRender

/// The loops in C for each set of instructions, held against plain ones, bit for bit.
struct SampleKernelTests {
  /// The sets that this machine has.
  static let levels = (0...2).filter { unsafe temblor_kernels_of(Int32($0)) != nil }

  /// Kinds of signal that take different ways through the loops.
  enum Kind: CaseIterable { case wave, noise, tiny, gaps, silence }

  private func kernels(_ level: Int) throws -> temblor_kernels {
    try #require(unsafe temblor_kernels_of(Int32(level))?.pointee)
  }

  private func signal(_ kind: Kind, count: Int, _ numbers: inout SeededGenerator) -> [Float] {
    (0..<count).map { index in
      let random = Float.random(in: -1...1, using: &numbers)
      switch kind {
      case .wave:
        return Float(index % 97) / 60 - 0.75
      case .noise:
        return random * 8
      case .tiny:
        return random
          * Float(sign: .plus, exponent: -Int.random(in: 0...140, using: &numbers), significand: 1)
      case .gaps:
        return index / 37 % 3 == 0 ? 0 : random
      case .silence:
        return index % 3 == 0 ? -0.0 : 0
      }
    }
  }

  private func bits(_ samples: [Float]) -> [UInt32] { samples.map(\.bitPattern) }

  @Test(arguments: levels, Kind.allCases) func peaksAndScales(level: Int, kind: Kind) throws {
    let kernels = try kernels(level)
    var numbers = SeededGenerator(seed: 3)
    for count in [1, 7, 8, 9, 64, 255] {
      let samples = signal(kind, count: count, &numbers)
      #expect(unsafe kernels.peak(samples, count) == samples.map(abs).max())
      let factor = Float.random(in: -2...2, using: &numbers)
      var scaled = samples
      let peak = unsafe kernels.scale(samples, factor, &scaled, count)
      #expect(bits(scaled) == bits(samples.map { $0 * factor }))
      #expect(peak == scaled.map(abs).max())
    }
  }

  @Test(arguments: levels, [Float.nan, .infinity, -.infinity]) func aPeakThatIsNotFiniteIsNegative(
    level: Int, sample: Float
  ) throws {
    let kernels = try kernels(level)
    for place in [0, 9, 18] {
      var samples = [Float](repeating: 0.5, count: 19)
      samples[place] = sample
      #expect(unsafe kernels.peak(samples, 19) == -1)
    }
  }

  /// A sine from a whole-number phase, as `SineSegment` describes its polynomial.
  private func wave(_ phase: UInt32) -> Float {
    let x = Float(Int32(bitPattern: phase))
    let t = x * (8 / 4_294_967_296 - abs(x) * (16 / 4_294_967_296 / 4_294_967_296))
    let a = abs(t)
    var y: Float = a * 0.0008567049289643813 + 0.017381177416773756
    y = y * a + 0.19636555741596204
    y = y * a + 0.7853965076349303
    return t * y
  }

  @Test(arguments: levels) func sines(level: Int) throws {
    let kernels = try kernels(level)
    var numbers = SeededGenerator(seed: 5)
    for trial in 0..<600 {
      let count = Int.random(in: 1...256, using: &numbers)
      let isSteady = trial % 3 == 0
      let glide = isSteady ? 0 : Int32.random(in: -1_000...1_000, using: &numbers)
      var sine = SineSegment(
        phase: .random(in: 0...(.max), using: &numbers),
        increment: .random(in: 0...(1 << 31), using: &numbers) >> UInt32(trial % 20),
        glide: UInt32(bitPattern: glide))
      let start = Float.random(in: -1...1, using: &numbers)
      let slope = isSteady ? 0 : Float.random(in: -1e-3...1e-3, using: &numbers)
      let first = Int.random(in: 0...2_048, using: &numbers)
      var bus = signal(.noise, count: count, &numbers)
      var expected = bus
      unsafe kernels.sine(
        sine.phase, sine.increment, sine.glide, start, slope, Float(first), &bus, count)
      for frame in 0..<count {
        expected[frame] += wave(sine.phase) * (Float(first + frame) * slope + start)
        sine.advance(by: 1)
      }
      #expect(bits(bus) == bits(expected))
    }
  }

  /// What by frames and by groups is equal is a matter of `LimiterTests`.
  @Test(arguments: levels, Kind.allCases) func groupsPassAlikeInAllSets(level: Int, kind: Kind)
    throws
  {
    let all = [try kernels(level), try kernels(0)]
    var numbers = SeededGenerator(seed: 15)
    func remover(_ mode: temblor_removal) -> temblor_offset_remover {
      // Above and below what is forgotten.
      let size = Float(
        sign: .plus, exponent: -Int.random(in: 4...50, using: &numbers), significand: 1)
      let slow = temblor_low_pass(cornerHertz: 0.5, rate: 8_000)
      let fast = temblor_low_pass(cornerHertz: 2.5, rate: 8_000)
      let first = mode == temblor_fast ? fast : (mode == temblor_slow ? slow : fast.decaying)
      return temblor_offset_remover(
        first: first, second: mode == temblor_fast ? fast : fast.decaying,
        first_start: .random(in: -size...size, using: &numbers),
        second_start: .random(in: -size...size, using: &numbers), mode: mode)
    }
    var passedCount = 0
    for _ in 0..<600 {
      let groups = Int.random(in: 1...17, using: &numbers)
      let samples = signal(kind, count: 4 * groups, &numbers)
      let delayed = signal(
        Kind.allCases.randomElement(using: &numbers) ?? kind, count: 4 * groups, &numbers)
      let modes = [temblor_slow, temblor_decaying, temblor_fast]
      let removers = modes.shuffled(using: &numbers).map { remover($0) }
      var results: [[UInt32]] = []
      for kernels in all {
        var arriving = samples
        var leaving = delayed
        var ahead = removers[0]
        var behind = removers[1]
        var passing = temblor_passing()
        passing.limit = 6
        passing.ceiling = 7
        passing.negligible = DCBlocker.negligible
        passing.forgotten = DCBlocker.forgotten
        let passed = unsafe kernels.pass_groups(
          &ahead, &behind, &passing, &arriving, &leaving, groups)
        results.append(
          bits(arriving + leaving)
            + bits([ahead.first_start, ahead.second_start, behind.first_start, behind.second_start])
            + bits([passing.peak, passing.latest, passing.latest_offset, passing.earlier]) + [
              UInt32(passed)
            ])
        #expect(leaving[..<(4 * passed)] == samples[..<(4 * passed)])
        passedCount += passed
      }
      #expect(results[0] == results[1])
    }
    #expect(passedCount > 0)
  }

  @Test(arguments: levels) func momentsOfSteps(level: Int) throws {
    let (kernels, base) = (try kernels(level), try kernels(0))
    var numbers = SeededGenerator(seed: 11)
    for stepLength in [1, 2, 7, 8, 9, 33, 134] {
      let weights = StepWeights(stepLength: stepLength)
      // What is read behind the step counts nothing.
      let samples = signal(.noise, count: weights.paddedLength, &numbers)
      let sums = unsafe kernels.moments(samples, weights.weights.address, weights.paddedLength)
      let others = unsafe base.moments(samples, weights.weights.address, weights.paddedLength)
      #expect(
        bits([sums.sum, sums.tilt, sums.bend, sums.square])
          == bits([others.sum, others.tilt, others.bend, others.square]))
      let moments = unsafe weights.moments(of: samples)
      let step = samples.prefix(stepLength).map(Double.init)
      let places = (0..<stepLength).map { (Double($0) + 0.5) / Double(stepLength) - 0.5 }
      let rising = places.map { $0 + 0.5 + 0.5 / Double(stepLength) }
      func isNear(_ value: Float, _ terms: [Double]) -> Bool {
        abs(Double(value) - terms.reduce(0, +)) < 1e-5 * Double(8 * stepLength)
      }
      #expect(isNear(moments.sum, step))
      #expect(isNear(moments.firstMoment, zip(step, places).map { $0 * $1 }))
      #expect(isNear(moments.rampedSum, zip(step, rising).map { $0 * $1 }))
      #expect(
        isNear(moments.rampedFirstMoment, zip(zip(step, rising), places).map { $0.0 * $0.1 * $1 }))
      #expect(isNear(moments.meanSquare, step.map { $0 * $0 / Double(stepLength) }))
    }
  }

  @Test(arguments: levels) func modelsMove(level: Int) throws {
    let kernels = try kernels(level)
    var numbers = SeededGenerator(seed: 13)
    for count in [1, 2, 3] {
      let models = (0..<16 * count - 5).map {
        TransducerTolerance.Model(
          resonance: 40 + Double($0), qualityFactor: 8, gain: 1 + 0.01 * Double($0))
      }
      let lanes = FixedBuffer(count: count) {
        ModelLanes(Array(models.dropFirst(16 * $0).prefix(16)), stepLength: 33, rate: 48_000)
      }
      var expected = (0..<count).map { lanes[$0] }
      let length = MemoryLayout<ModelLanes>.stride / 4
      for _ in 0..<100 {
        let sum = Float.random(in: -33...33, using: &numbers)
        let tilt = Float.random(in: -8...8, using: &numbers)
        let greatest = unsafe kernels.move(
          UnsafeMutableRawPointer(lanes.address).assumingMemoryBound(to: Float.self), length, count,
          sum, tilt)
        var norms: [Float] = []
        for group in 0..<count {
          let lane = expected[group]
          let x =
            (lane.xx * lane.x + lane.xy * lane.y) + (lane.sumX * sum + lane.firstMomentX * tilt)
          let y =
            (lane.yx * lane.x + lane.yy * lane.y) + (lane.sumY * sum + lane.firstMomentY * tilt)
          expected[group].x = x
          expected[group].y = y
          norms.append((x * x + y * y).max())
          #expect(lanes[group].x == x)
          #expect(lanes[group].y == y)
        }
        #expect(greatest == norms.max())
      }
      #expect(lanes[0].x[0] != 0)
    }
  }
}
