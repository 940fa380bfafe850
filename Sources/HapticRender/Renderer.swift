/// Renders a plan in blocks, for every sink alike: what is written to a file is what is played.
///
/// Any split into blocks gives the same samples. All memory is taken when the renderer is made. The
/// output lags by `latency` frames, the look-ahead of the limiter.
@safe
public struct Renderer: ~Copyable {
  /// What is rendered.
  public let plan: RenderPlan
  /// How it is rendered.
  public let settings: RenderSettings
  /// What has happened so far.
  public private(set) var statistics = RenderStatistics()

  /// Frames mixed at a time; a greater block is rendered in several turns.
  static var turnLength: Int {
    @_noLocks get { 256 }
  }

  let voices: UnsafeMutableBufferPointer<Voice>
  var activeCount = 0
  var nextVoice = 0
  var passOrigin: Int64 = 0
  var passesBegun = 1
  var position: Int64 = 0
  private let haptics: UnsafeMutableBufferPointer<Float>
  private let left: UnsafeMutableBufferPointer<Float>
  private let right: UnsafeMutableBufferPointer<Float>
  private let laysAudio: Bool
  private let laysHaptics: Bool
  private var firstChain: OutputChain
  private var secondChain: OutputChain
  private var otherChain: OutputChain

  /// Takes all memory for rendering a plan: about 200 bytes for each voice that sounds at once.
  public init(plan: RenderPlan, settings: RenderSettings = RenderSettings()) {
    self.plan = plan
    self.settings = settings
    unsafe voices = .allocate(capacity: plan.voiceCapacity(passCount: settings.passCount))
    unsafe haptics = .allocate(capacity: Self.turnLength)
    unsafe left = .allocate(capacity: Self.turnLength)
    unsafe right = .allocate(capacity: Self.turnLength)
    unsafe haptics.initialize(repeating: 0)
    unsafe left.initialize(repeating: 0)
    unsafe right.initialize(repeating: 0)
    laysHaptics = plan.hasHaptics && settings.buses != .audio
    laysAudio = plan.hasAudio && settings.buses != .haptics
    firstChain = OutputChain(rate: plan.rate)
    secondChain = OutputChain(rate: plan.rate)
    otherChain = OutputChain(rate: plan.rate)
  }

  deinit {
    unsafe voices.deallocate()
    unsafe haptics.deallocate()
    unsafe left.deallocate()
    unsafe right.deallocate()
  }

  /// Frames by which the output lags behind the plan.
  public var latency: Int { firstChain.limiter.delay }

  /// Renders the next frames, interleaved.
  ///
  /// Frames behind the plan's end or the settings' length are silent. No sample passes −1 dBFS.
  ///
  /// - Parameter block: Samples to overwrite, a whole number of frames.
  ///
  /// [render thread] Allocates nothing, waits for nothing. About 0.7 ns for each sine and frame.
  @_noLocks
  public mutating func render(into block: inout MutableSpan<Float>) {
    let frameCount = block.count / settings.channelCount
    var done = 0
    while done < frameCount {
      let count = min(Self.turnLength, frameCount &- done)
      renderTurn(count: count)
      interleave(count: count, to: &block, at: done)
      position &+= Int64(count)
      done &+= count
    }
    statistics.frameCount &+= Int64(frameCount)
  }

  /// Mixes the voices and routes the buses through the chains, leaving the channels in the buses.
  @_noLocks
  private mutating func renderTurn(count: Int) {
    var haptics = unsafe self.haptics.mutableSpan
    var left = unsafe self.left.mutableSpan
    var right = unsafe self.right.mutableSpan
    var index = 0
    while index < count {
      haptics[index] = 0
      left[index] = 0
      right[index] = 0
      index &+= 1
    }
    mixVoices(count: count, haptics: &haptics, left: &left, right: &right)
    if activeCount > statistics.greatestVoiceCount { statistics.greatestVoiceCount = activeCount }
    route(count: count, haptics: &haptics, left: &left, right: &right)
    if laysAudio {
      firstChain.process(&left, count: count, statistics: &statistics)
      if settings.channelCount > 1 {
        secondChain.process(&right, count: count, statistics: &statistics)
      }
      guard settings.channelCount > 2 else { return }
    }
    otherChain.process(&haptics, count: count, statistics: &statistics)
  }

  /// Puts haptics and audio together: the mix of the first channels into `left` and `right`.
  @_noLocks
  private func route(
    count: Int, haptics: inout MutableSpan<Float>, left: inout MutableSpan<Float>,
    right: inout MutableSpan<Float>
  ) {
    let gain = settings.gain
    let isMono = settings.channelCount == 1
    var index = 0
    while index < count {
      let haptic = laysHaptics ? haptics[index] * gain : 0
      haptics[index] = haptic
      if laysAudio {
        let l = left[index] * gain
        let r = right[index] * gain
        left[index] = haptic + (isMono ? (l + r) * 0.5 : l)
        right[index] = haptic + r
      }
      index &+= 1
    }
  }

  /// Writes the channels to a block, faded towards the settings' length.
  @_noLocks
  private func interleave(count: Int, to block: inout MutableSpan<Float>, at start: Int) {
    let channelCount = settings.channelCount
    let first = position &- Int64(latency)
    let isFading = fade(at: first &+ Int64(count)) < 1
    var channel = 0
    while channel < channelCount {
      let signal = unsafe laysAudio && channel < 2 ? (channel == 0 ? left : right) : haptics
      var place = start &* channelCount &+ channel
      var index = 0
      while index < count {
        let factor = isFading ? fade(at: first &+ Int64(index)) : 1
        unsafe block[place] = signal[index] * factor
        place &+= channelCount
        index &+= 1
      }
      channel &+= 1
    }
  }

  /// The factor of the closing fade: 1, then a straight line to 0 at the last frame.
  @_noLocks
  private func fade(at frame: Int64) -> Float {
    guard let length = settings.length else { return 1 }
    let left = length &- 1 &- frame
    if left >= settings.fadeLength { return 1 }
    return left <= 0 ? 0 : Float(left) / Float(settings.fadeLength)
  }
}
