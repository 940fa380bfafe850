internal import CMath
internal import CSampleKernels

/// A DC blocker: a one-pole high-pass at 0.5 Hz, or two in series at 2.5 Hz while a limiter changes
/// the gain.
///
/// The attenuation at 20 Hz is 0.003 dB, or 0.13 dB in fast mode. During silence, the estimated
/// offset decays at the fast rate, so that the output reaches digital silence.
///
/// Each filter subtracts the output of a one-pole low-pass, which estimates the offset. Frames are
/// processed in groups of four: the recursion is unrolled, so that the four offsets depend only on
/// the group's samples and on the offset at its start, and can be computed as a vector. Groups are
/// aligned to the first frame, so the output doesn't depend on the block size.
struct DCBlocker: BitwiseCopyable, Sendable {
  /// The duration of the fast mode after a call of `beginFastMode(from:)`, in seconds.
  static let fastModeSeconds = 0.5
  /// The maximum magnitude of a negligible offset: −128 dBFS.
  ///
  /// An offset below it is set to 0 during silence.
  static let negligibleOffsetMagnitude: Float = 4e-7
  /// The magnitude below which the second filter's offset is set to 0, to prevent denormals.
  static let denormalOffsetMagnitude: Float = 1e-12

  private let slowFilter: temblor_low_pass
  private let fastFilter: temblor_low_pass
  private let fastModeFrameCount: Int64
  private let delayFrameCount: Int
  /// The filter mode, and the offsets of the active filters at the start of the current group.
  private var kernelState = temblor_dc_blocker()
  /// The inputs of the first low-pass in the current group.
  private var firstStageInputs = GroupInputs()
  /// The inputs of the second low-pass in the current group.
  private var secondStageInputs = GroupInputs()
  /// The number of inputs in the current group.
  private var groupInputCount = 0
  /// The first frame that is processed in fast mode.
  private var fastModeStartFrame = Int64.max
  /// The first frame after those that are processed in fast mode.
  private var fastModeEndFrame = Int64.min
  /// The index of the next frame. The first `delayFrameCount` frames have negative indices.
  private(set) var frameIndex: Int64 = 0
  /// The offset removed from the most recent frame.
  private(set) var latestOffset: Float = 0

  /// Creates a DC blocker.
  ///
  /// - Parameters:
  ///   - rate: The sample rate, in hertz.
  ///   - delay: The number of frames before frame 0, to which groups are aligned.
  init(rate: Double, delay: Int = 0) {
    slowFilter = temblor_low_pass(cornerHertz: 0.5, rate: rate)
    fastFilter = temblor_low_pass(cornerHertz: 2.5, rate: rate)
    fastModeFrameCount = Int64(Self.fastModeSeconds * rate)
    self.delayFrameCount = delay
    reset()
  }

  @_noLocks mutating func reset() {
    kernelState.first_offset = 0
    kernelState.second_offset = 0
    latestOffset = 0
    firstStageInputs = GroupInputs()
    secondStageInputs = GroupInputs()
    groupInputCount = (4 &- delayFrameCount % 4) % 4
    frameIndex = Int64(-delayFrameCount)
    fastModeStartFrame = .max
    fastModeEndFrame = .min
    setMode(temblor_dc_decaying)
  }

  /// Switches to the fast mode for `fastModeSeconds`, starting at a frame.
  @_noLocks mutating func beginFastMode(from frame: Int64) {
    if frame >= fastModeEndFrame {
      fastModeStartFrame = frame
    }
    fastModeEndFrame = frame &+ fastModeFrameCount
  }

  /// Filters one frame.
  ///
  /// - Parameters:
  ///   - sample: The input.
  ///   - limit: The magnitude to which the output is clipped. The filters follow the clipped
  ///     signal, so they also remove DC that is caused by clipping.
  @_noLocks mutating func process(_ sample: Float, clippedTo limit: Float = .infinity) -> Float {
    let firstOffset = kernelState.first.offset(
      at: groupInputCount, start: kernelState.first_offset, inputs: firstStageInputs)
    let secondOffset = kernelState.second.offset(
      at: groupInputCount, start: kernelState.second_offset, inputs: secondStageInputs)
    latestOffset = firstOffset + secondOffset
    var firstInput = sample
    var secondInput = sample - firstOffset
    var output = secondInput - secondOffset
    if abs(output) > limit {
      output = output < 0 ? -limit : limit
      secondInput = output + secondOffset
      firstInput = secondInput + firstOffset
    }
    firstStageInputs.set(firstInput, at: groupInputCount)
    secondStageInputs.set(secondInput, at: groupInputCount)
    groupInputCount &+= 1
    frameIndex &+= 1
    if groupInputCount == 4 {
      finishGroup()
    }
    return output
  }

  @_noLocks private mutating func finishGroup() {
    groupInputCount = 0
    let isGroupSilent = firstStageInputs.isSilent
    kernelState.first_offset = kernelState.first.finalOffset(
      start: kernelState.first_offset, inputs: firstStageInputs)
    kernelState.second_offset = kernelState.second.finalOffset(
      start: kernelState.second_offset, inputs: secondStageInputs)
    if isGroupSilent,
      abs(kernelState.first_offset) + abs(kernelState.second_offset)
        < Self.negligibleOffsetMagnitude
    {
      kernelState.first_offset = 0
      kernelState.second_offset = 0
    } else if abs(kernelState.second_offset) < Self.denormalOffsetMagnitude {
      kernelState.second_offset = 0
    }
    let isFastMode = frameIndex >= fastModeStartFrame && frameIndex < fastModeEndFrame
    let relaxedMode = isGroupSilent ? temblor_dc_decaying : temblor_dc_slow
    let kernelMode = isFastMode ? temblor_dc_fast : relaxedMode
    if kernelMode != kernelState.mode {
      setMode(kernelMode)
    }
  }

  @_noLocks private mutating func setMode(_ mode: temblor_dc_mode) {
    kernelState.mode = mode
    if mode == temblor_dc_fast {
      kernelState.first = fastFilter
      kernelState.second = fastFilter
    } else {
      kernelState.first = mode == temblor_dc_slow ? slowFilter : fastFilter.withoutInput
      kernelState.second = fastFilter.withoutInput
    }
  }

  /// Returns the number of whole groups before the filter's next scheduled mode change.
  ///
  /// Returns 0 in the middle of a group.
  @_noLocks private func groupCountBeforeModeChange(maximumCount: Int) -> Int {
    guard groupInputCount == 0 else { return 0 }
    let isFastMode = kernelState.mode == temblor_dc_fast
    if !isFastMode, frameIndex >= fastModeEndFrame { return maximumCount }
    if isFastMode, frameIndex &+ 4 < fastModeStartFrame { return 0 }
    let modeEndFrame = isFastMode ? fastModeEndFrame : fastModeStartFrame
    let framesBeforeModeEnd = max(0, min(Int64(maximumCount) &* 4, modeEndFrame &- 1 &- frameIndex))
    return min(maximumCount, Int(framesBeforeModeEnd) / 4)
  }

  /// Filters groups of input with this filter, and delayed groups with another filter.
  ///
  /// Filtering ends when a sample exceeds a limit or either filter changes its mode.
  ///
  /// - Parameters:
  ///   - outputFilter: The filter of the delayed groups.
  ///   - input: The input; the filtered output replaces it.
  ///   - delayed: The delayed groups; the input replaces them.
  ///   - maximumCount: The maximum number of groups.
  ///   - blockState: The limits, and the history of the input.
  /// - Returns: The number of groups processed.
  @_noLocks @unsafe mutating func passGroups(
    to outputFilter: inout DCBlocker, input: UnsafeMutablePointer<Float>,
    delayed: UnsafeMutablePointer<Float>, maximumCount: Int,
    _ blockState: inout temblor_limiter_block_state
  ) -> Int {
    let inputGroupCount = groupCountBeforeModeChange(maximumCount: maximumCount)
    let passableGroupCount = outputFilter.groupCountBeforeModeChange(maximumCount: inputGroupCount)
    guard passableGroupCount > 0 else { return 0 }
    blockState.silence_threshold = Self.negligibleOffsetMagnitude
    blockState.denormal_threshold = Self.denormalOffsetMagnitude
    let passedCount = unsafe temblor_pass_groups(
      &kernelState, &outputFilter.kernelState, &blockState, input, delayed, passableGroupCount)
    frameIndex &+= Int64(4 &* passedCount)
    outputFilter.frameIndex &+= Int64(4 &* passedCount)
    return passedCount
  }
}

/// The inputs of a low-pass in a group of four frames.
///
/// Separate fields, because the compiler is slow at indexing the lanes of a vector by a variable.
private struct GroupInputs: BitwiseCopyable, Sendable {
  private(set) var firstInput: Float = 0
  private(set) var secondInput: Float = 0
  private(set) var thirdInput: Float = 0
  private(set) var fourthInput: Float = 0

  @_noLocks init() {}

  var isSilent: Bool {
    @_noLocks get { firstInput == 0 && secondInput == 0 && thirdInput == 0 && fourthInput == 0 }
  }

  @_noLocks @inline(__always) mutating func set(_ sample: Float, at index: Int) {
    switch index {
    case 0: firstInput = sample
    case 1: secondInput = sample
    case 2: thirdInput = sample
    default: fourthInput = sample
    }
  }
}

extension temblor_low_pass {
  /// Creates a one-pole low-pass, unrolled over a group of four frames.
  init(cornerHertz: Double, rate: Double) {
    let poleRadius = exp(-2 * Double.pi * cornerHertz / rate)

    /// Returns the ratio of the offset after `count` frames of decay to the initial offset.
    func decayGain(after count: Int) -> Float { Float(pow(poleRadius, Double(count))) }

    /// Returns the weight of a sample in the offset `count` frames after the start of the group.
    /// The weights sum to 1.
    func inputWeight(of index: Int, after count: Int) -> Float {
      let impulseResponse = pow(poleRadius, Double(count - 1 - index)) * (1 - poleRadius)
      return Float(
        impulseResponse * (1 - Double(decayGain(after: count)))
          / (1 - pow(poleRadius, Double(count))))
    }

    self.init(
      start_weights: SIMD4(1, decayGain(after: 1), decayGain(after: 2), decayGain(after: 3)),
      first_weights: SIMD4(
        0, inputWeight(of: 0, after: 1), inputWeight(of: 0, after: 2),
        inputWeight(of: 0, after: 3)),
      second_weights: SIMD4(0, 0, inputWeight(of: 1, after: 2), inputWeight(of: 1, after: 3)),
      third_weights: SIMD4(0, 0, 0, inputWeight(of: 2, after: 3)),
      final_weights: SIMD4(
        inputWeight(of: 0, after: 4), inputWeight(of: 1, after: 4), inputWeight(of: 2, after: 4),
        inputWeight(of: 3, after: 4)),
      final_decay: decayGain(after: 4))
  }

  /// A copy of the filter that ignores its input, so that its offset decays.
  var withoutInput: temblor_low_pass {
    @_noLocks get {
      let zero = SIMD4<Float>()
      return temblor_low_pass(
        start_weights: start_weights, first_weights: zero, second_weights: zero,
        third_weights: zero, final_weights: zero, final_decay: final_decay)
    }
  }

  /// Returns the offset at a frame of the group.
  ///
  /// It depends on the initial offset and the preceding samples.
  @_noLocks @inline(__always)
  fileprivate func offset(at index: Int, start: Float, inputs: GroupInputs) -> Float {
    switch index {
    case 0:
      start
    case 1:
      start * start_weights[1] + inputs.firstInput * first_weights[1]
    case 2:
      start * start_weights[2]
        + (inputs.firstInput * first_weights[2] + inputs.secondInput * second_weights[2])
    default:
      start * start_weights[3]
        + ((inputs.firstInput * first_weights[3] + inputs.secondInput * second_weights[3])
          + inputs.thirdInput * third_weights[3])
    }
  }

  /// Returns the offset at the start of the next group.
  @_noLocks @inline(__always)
  fileprivate func finalOffset(start: Float, inputs: GroupInputs) -> Float {
    let firstInputPairSum =
      inputs.firstInput * final_weights[0] + inputs.secondInput * final_weights[1]
    let secondInputPairSum =
      inputs.thirdInput * final_weights[2] + inputs.fourthInput * final_weights[3]
    return start * final_decay + (firstInputPairSum + secondInputPairSum)
  }
}
