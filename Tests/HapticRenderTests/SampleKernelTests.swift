#if arch(x86_64)
  import CSampleKernels
  import RealtimeMemory
  import Testing
  import TestSupport

  @testable import HapticRender

  /// The loops in C for each set of instructions, held against their originals in Swift, bit for bit.
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
        case .wave: return Float(index % 97) / 60 - 0.75
        case .noise: return random * 8
        case .tiny:
          return random * Float(sign: .plus, exponent: -Int.random(in: 0...140, using: &numbers), significand: 1)
        case .gaps: return index / 37 % 3 == 0 ? 0 : random
        case .silence: return index % 3 == 0 ? -0.0 : 0
        }
      }
    }

    private func bits(_ samples: [Float]) -> [UInt32] { samples.map(\.bitPattern) }

    @Test(arguments: levels, Kind.allCases) func peaksAndScales(level: Int, kind: Kind) throws {
      let kernels = try kernels(level)
      var numbers = SeededGenerator(seed: 3)
      for count in [1, 7, 8, 9, 64, 255] {
        let samples = signal(kind, count: count, &numbers)
        let peak = unsafe samples.withUnsafeBufferPointer { unsafe kernels.peak($0.baseAddress!, count) }
        let expected = unsafe samples.withUnsafeBufferPointer {
          unsafe SampleKernels.peakInSwift($0.baseAddress!, count: count)
        }
        #expect(peak == expected)
        #expect(peak == samples.map(abs).max())
        var (scaled, inSwift) = (samples, samples)
        let factor = Float.random(in: -2...2, using: &numbers)
        let peaks = unsafe samples.withUnsafeBufferPointer { samples in
          unsafe (
            kernels.scale(samples.baseAddress!, factor, &scaled, count),
            SampleKernels.scaleInSwift(samples.baseAddress!, by: factor, to: &inSwift, count: count)
          )
        }
        #expect(peaks.0 == peaks.1)
        #expect(bits(scaled) == bits(inSwift))
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
        #expect(unsafe SampleKernels.peakInSwift(samples, count: 19) == -1)
      }
    }

    @Test(arguments: levels) func sines(level: Int) throws {
      let kernels = try kernels(level)
      var numbers = SeededGenerator(seed: 5)
      for trial in 0..<600 {
        let count = Int.random(in: 1...256, using: &numbers)
        let isSteady = trial % 3 == 0
        let glide = isSteady ? 0 : Int32.random(in: -1_000...1_000, using: &numbers)
        let sine = SineSegment(
          phase: .random(in: 0...(.max), using: &numbers),
          increment: .random(in: 0...(1 << 31), using: &numbers) >> UInt32(trial % 20), glide: UInt32(bitPattern: glide)
        )
        var ramp = LinearRamp(from: 0, to: 0, frameCount: 1)
        ramp.start = .random(in: -1...1, using: &numbers)
        ramp.slope = isSteady ? 0 : .random(in: -1e-3...1e-3, using: &numbers)
        let first = Int.random(in: 0...2_048, using: &numbers)
        let bus = signal(.noise, count: count, &numbers)
        var (inC, inSwift) = (bus, bus)
        unsafe kernels.sine(sine.phase, sine.increment, sine.glide, ramp.start, ramp.slope, Float(first), &inC, count)
        unsafe sine.addInSwift(level: ramp, first: first, to: &inSwift, count: count)
        #expect(bits(inC) == bits(inSwift))
      }
    }

    @Test(arguments: levels, Kind.allCases) func offsetsOfGroups(level: Int, kind: Kind) throws {
      let kernels = try kernels(level)
      var numbers = SeededGenerator(seed: 7)
      let calm = DCBlocker.Weights(cornerHertz: 0.5, rate: 8_000)
      for weights in [calm, calm.forgetting] {
        let isForgetting = weights.one == 0
        var lanes = weights.lanes
        var moving = temblor_following(start: 0, offset: 0, peak: 0, is_silent: 0)
        var following = DCBlocker.Following(start: 0, offset: 0, peak: 0)
        for trial in 0..<200 {
          let groups = Int.random(in: 1...33, using: &numbers)
          let samples = signal(kind, count: 4 * groups, &numbers)
          if isForgetting, trial % 5 == 0 {
            moving.start = .random(in: -1e-2...1e-2, using: &numbers)
            following.start = moving.start
          }
          var (inC, inSwift) = (samples, samples)
          let run = isForgetting ? unsafe kernels.forget : unsafe kernels.follow
          let done = unsafe run(&lanes, &moving, 4e-7, samples, &inC, groups)
          let expected = unsafe weights.followInSwift(
            &following, samples, to: &inSwift, groupCount: groups, negligible: 4e-7, isForgetting: isForgetting)
          #expect(done == expected)
          #expect(bits(inC) == bits(inSwift))
          #expect(moving.start.bitPattern == following.start.bitPattern)
          #expect(moving.offset == following.offset)
          #expect(moving.peak == following.peak)
          #expect((moving.is_silent != 0) == following.isSilent)
        }
      }
    }

    @Test(arguments: levels, Kind.allCases) func offsetsOfGroupsTwice(level: Int, kind: Kind) throws {
      let kernels = try kernels(level)
      var numbers = SeededGenerator(seed: 15)
      let weights = DCBlocker.Weights(cornerHertz: 2.5, rate: 8_000)
      var lanes = weights.lanes
      var moving = temblor_pursuit(first: 0, second: 0, offset: 0, peak: 0)
      var pursuit = DCBlocker.Pursuit(first: 0, second: 0)
      for trial in 0..<300 {
        let groups = Int.random(in: 1...17, using: &numbers)
        let samples = signal(kind, count: 4 * groups, &numbers)
        if trial % 7 == 0 {
          // Above and below what is forgotten.
          let size = Float(sign: .plus, exponent: -Int.random(in: 4...50, using: &numbers), significand: 1)
          pursuit.first = .random(in: -size...size, using: &numbers)
          pursuit.second = .random(in: -size...size, using: &numbers)
          (moving.first, moving.second) = (pursuit.first, pursuit.second)
        }
        var (inC, inSwift) = (samples, samples)
        var offsets = (samples, samples)
        unsafe kernels.pursue(&lanes, &moving, 4e-7, 1e-12, samples, &inC, &offsets.0, groups)
        unsafe weights.pursueInSwift(
          &pursuit, samples, to: &inSwift, offsets: &offsets.1, groupCount: groups, negligible: 4e-7, forgotten: 1e-12)
        #expect(inC == inSwift)
        #expect(offsets.0 == offsets.1)
        #expect(moving.first == pursuit.first)
        #expect(moving.second == pursuit.second)
        #expect(moving.offset == pursuit.offset)
        #expect(moving.peak == pursuit.peak)
      }
      #expect(moving.peak > 0 || kind == .silence)
    }

    @Test(arguments: levels) func samplesChangePlaces(level: Int) throws {
      let kernels = try kernels(level)
      var numbers = SeededGenerator(seed: 9)
      for count in [0, 1, 7, 8, 33, 64] {
        let (first, second) = (signal(.noise, count: count + 1, &numbers), signal(.noise, count: count + 1, &numbers))
        var (inC, inSwift) = ((first, second), (first, second))
        unsafe kernels.swap(&inC.0, &inC.1, count)
        unsafe SampleKernels.swapInSwift(&inSwift.0, &inSwift.1, count: count)
        #expect(inC == inSwift)
        #expect(inC.0 == second.prefix(count) + first.suffix(1))
        #expect(inC.1 == first.prefix(count) + second.suffix(1))
      }
    }

    @Test(arguments: levels) func momentsOfSteps(level: Int) throws {
      let kernels = try kernels(level)
      var numbers = SeededGenerator(seed: 11)
      for stepLength in [1, 2, 7, 8, 9, 33, 134] {
        let weights = StepWeights(stepLength: stepLength)
        // What is read behind the step counts nothing.
        let samples = signal(.noise, count: weights.readCount, &numbers)
        let sums = unsafe kernels.moments(samples, weights.rows.address, weights.readCount)
        let inC = weights.moments(sum: sums.sum, tilt: sums.tilt, bend: sums.bend, square: sums.square)
        let inSwift = unsafe weights.momentsInSwift(of: samples)
        #expect(bits(of: inC) == bits(of: inSwift))
        let step = samples.prefix(stepLength).map(Double.init)
        let places = (0..<stepLength).map { (Double($0) + 0.5) / Double(stepLength) - 0.5 }
        let rising = places.map { $0 + 0.5 + 0.5 / Double(stepLength) }
        func isNear(_ value: Float, _ terms: [Double]) -> Bool {
          abs(Double(value) - terms.reduce(0, +)) < 1e-5 * Double(8 * stepLength)
        }
        #expect(isNear(inC.sum, step))
        #expect(isNear(inC.tilt, zip(step, places).map { $0 * $1 }))
        #expect(isNear(inC.risingSum, zip(step, rising).map { $0 * $1 }))
        #expect(isNear(inC.risingTilt, zip(zip(step, rising), places).map { $0.0 * $0.1 * $1 }))
        #expect(isNear(inC.square, step.map { $0 * $0 / Double(stepLength) }))
      }
    }

    private func bits(of moments: StepMoments) -> [UInt32] {
      bits([moments.sum, moments.tilt, moments.risingSum, moments.risingTilt, moments.square])
    }

    @Test(arguments: levels) func modelsMove(level: Int) throws {
      let kernels = try kernels(level)
      var numbers = SeededGenerator(seed: 13)
      for count in [1, 2, 3] {
        let models = (0..<16 * count - 5).map {
          UncertainTransducers.Model(resonance: 40 + Double($0), qualityFactor: 8, gain: 1 + 0.01 * Double($0))
        }
        let lanes = FixedBuffer(count: count) {
          ModelLanes(Array(models.dropFirst(16 * $0).prefix(16)), stepLength: 33, rate: 48_000)
        }
        let others = FixedBuffer(count: count) { lanes[$0] }
        let length = MemoryLayout<ModelLanes>.stride / 4
        for _ in 0..<100 {
          let sum = Float.random(in: -33...33, using: &numbers)
          let tilt = Float.random(in: -8...8, using: &numbers)
          let inC = unsafe kernels.move(
            UnsafeMutableRawPointer(lanes.address).assumingMemoryBound(to: Float.self), length, count, sum, tilt)
          let inSwift = unsafe ModelLanes.moveInSwift(others.address, count: count, sum: sum, tilt: tilt)
          #expect(inC == inSwift)
          for group in 0..<count {
            #expect(lanes[group].x == others[group].x)
            #expect(lanes[group].y == others[group].y)
          }
        }
        #expect(lanes[0].x[0] != 0)
      }
    }
  }
#endif
