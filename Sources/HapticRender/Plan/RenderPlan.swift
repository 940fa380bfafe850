public import HapticModel
internal import RealtimeMemory

/// A pattern compiled for one profile and frame rate: sorted voices and control lines, ready to render.
///
/// Immutable, and shared freely between threads; several renderers can play one plan. Memory is about
/// 110 bytes for each sine and 24 for each corner of a curve.
public final class RenderPlan: @unchecked Sendable {
  /// The version of the rendering model: it grows when equal patterns would sound different.
  ///
  /// In version 2 a profile's hardware decides frequencies and levels; without hardware all is as in 1.
  public static let modelVersion = 3

  /// Frames per second.
  public let rate: Double
  /// The frame at which a loop returns to the beginning: the pattern's duration, or the end of the
  /// last burst or of the last event without a duration where that is later.
  public let loopLength: Int64
  /// The frames that further passes of a loop play, where the composition has loop points; nil for all.
  public let loopRange: Range<Int64>?
  /// The frame from which on nothing sounds, releases included.
  public let soundEnd: Int64
  /// How many events the pattern had.
  public let eventCount: Int
  /// The most voices that sound within one sub-block of a renderer.
  public let maximumVoiceCount: Int
  /// Whether any event sounds on the haptic bus.
  public let hasHaptics: Bool
  /// Whether any event sounds on the audio bus.
  public let hasAudio: Bool

  /// What the render path reads; `samples` and `tables` keep what it refers to alive.
  let view: Cell<PlanView>
  private let voices: FixedBuffer<PlannedVoice>
  private let segments: FixedBuffer<ControlSegment>
  private let sounds: FixedBuffer<AudioBufferView>
  private let layers: FixedBuffer<LayerTracks>
  private let envelopes: FixedBuffer<PlannedEnvelope>
  private let tables: LevelTables
  private let samples: [AudioBuffer]

  /// The number of sines and sounds the pattern became.
  public var voiceCount: Int { view.value.voices.count }

  /// The length of a rendering in frames: the pattern's duration or all that sounds, if that is longer.
  public var length: Int64 { max(loopLength, soundEnd) }

  init(_ draft: consuming RenderPlanBuilder) {
    rate = draft.rate
    loopLength = draft.loopLength
    loopRange = draft.loopRange
    soundEnd = draft.soundEnd
    eventCount = draft.eventCount
    hasHaptics = draft.hasHaptics
    hasAudio = draft.hasAudio
    tables = draft.tables
    samples = draft.samples
    let edge = draft.edge
    voices = draft.voices.fixed()
    maximumVoiceCount = Self.greatestCount(of: voices) { $0.envelope.end }
    segments = FixedBuffer(draft.segments)
    layers = FixedBuffer(draft.layerTracks)
    envelopes = FixedBuffer(draft.envelopes)
    sounds = FixedBuffer(
      draft.samples.map { sample in
        unsafe AudioBufferView(
          frames: sample.frames.view, frameCount: sample.frameCount, channelCount: sample.channelCount)
      })
    view = unsafe Cell(
      PlanView(
        voices: voices.view, segments: segments.view, sounds: sounds.view, layers: layers.view,
        envelopes: envelopes.view, mappings: draft.mappings, loopLength: draft.loopLength,
        length: max(draft.loopLength, draft.soundEnd), edge: edge, rate: draft.rate))
  }

  /// The frames that each further pass of a loop adds.
  public var passLength: Int64 { loopRange.map { $0.upperBound - $0.lowerBound } ?? loopLength }

  /// Where the passes of plans that run in step end: the longest's, or 0 where each has the same.
  public static func commonLoopLength(of plans: [RenderPlan]) -> Int64 {
    let longest = plans.map { $0.loopLength }.max() ?? 0
    return plans.allSatisfy { $0.loopLength == longest } ? 0 : longest
  }

  /// The most voices that overlapping passes of a loop may have together.
  private static let mostLoopedVoices = 1 << 18

  /// How many voices a renderer must hold: the most at once in every pass that can overlap.
  ///
  /// - Parameters:
  ///   - passCount: How often the pattern is played, or nil for endlessly.
  ///   - isSent: Whether a player may be sent other envelope times, up to the longest releases.
  func voiceCapacity(passCount: Int?, isSent: Bool = false) -> Int {
    let isLonger = isSent && envelopes.count > 0
    let longestRelease = isLonger ? Int64((EnvelopeTimes.longest * rate).rounded()) : 0
    // A renderer starts all passes of a sub-block before it releases those that end in it.
    let reach = soundEnd + longestRelease + Int64(Renderer.subBlockLength)
    var count = maximumVoiceCount
    if isLonger {
      count = Self.greatestCount(of: voices) { voice in
        guard voice.plannedEnvelope >= 0 else { return voice.envelope.end }
        return max(voice.envelope.end, envelopes[Int(voice.plannedEnvelope)].hold + longestRelease)
      }
    }
    let overlapping = loopLength > 0 ? Int(reach / loopLength) + 1 : 1
    let passes = min(overlapping, max(1, passCount ?? overlapping))
    // Loops of a few frames with long releases overlap without end; memory must not.
    let (product, overflow) = count.multipliedReportingOverflow(by: passes)
    return max(1, count, overflow ? Self.mostLoopedVoices : min(product, Self.mostLoopedVoices))
  }

  /// The most voices within one sub-block that last as long as a function says, in frames from their onset: O(n log n).
  private static func greatestCount(of voices: borrowing FixedBuffer<PlannedVoice>, _ length: (PlannedVoice) -> Int64)
    -> Int
  {
    // A renderer starts all voices of a sub-block before it releases those that end in it.
    let subBlock = Int64(Renderer.subBlockLength)
    var ends: [Int64] = []
    ends.reserveCapacity(voices.count)
    for index in 0..<voices.count { ends.append(voices[index].onset + length(voices[index]) + subBlock) }
    ends.sort()
    var greatest = 0
    var ended = 0
    for started in 0..<voices.count {
      while ended < ends.count, ends[ended] <= voices[started].onset { ended += 1 }
      greatest = max(greatest, started + 1 - ended)
    }
    return greatest
  }

  /// Plans a recording on the haptic bus, heard sample for sample: no profile and no control acts on it.
  ///
  /// - Parameters:
  ///   - recording: A sound at the plan's rate, of which the first channel is heard.
  ///   - rate: Frames per second, 8,000–192,000.
  /// - Throws: A `RenderError` where the rate lies outside.
  public convenience init(recording: AudioBuffer, rate: Double) throws(RenderError) {
    try Self.check(rate: rate)
    var draft = RenderPlanBuilder(profile: .phone, rate: rate)
    let mono = recording.channelCount == 1 ? recording : recording.firstChannel
    let length = Int64(mono.frameCount)
    if length > 0 {
      var voice = PlannedVoice(
        source: .recording, onset: 0,
        envelope: Envelope(riseEnd: 0, riseLevel: 1, releaseStart: length, releaseLevel: 1, end: length), gain: 1)
      voice.sample = 0
      draft.voices.append(voice)
    }
    draft.samples = [mono]
    draft.eventCount = draft.voices.count
    draft.hasHaptics = true
    draft.loopLength = length
    draft.soundEnd = length
    draft.add(tracks: EventControls(of: HapticPattern(), rate: rate).moving)
    self.init(draft)
  }
}

extension AudioBuffer {
  /// The first channel by itself.
  fileprivate var firstChannel: AudioBuffer {
    AudioBuffer(interleaved: (0..<frameCount).map { frames[$0 * channelCount] }, channelCount: 1)
  }
}

/// Why a composition cannot be compiled, and where.
public struct RenderError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What to change.
  public enum Kind: String, Sendable {
    /// A frame rate outside 8–192 kHz.
    case rateOutOfRange
    /// A time or value that is not a finite number, or a negative time or duration.
    case timeOutOfRange
    /// An event that ends more than a day after the start.
    case patternTooLong
    /// A sound file the pattern names and the caller did not provide.
    case sampleMissing
    /// A composition of more layers than can be compiled.
    case tooManyLayers
  }

  /// What to change.
  public var kind: Kind
  /// The event that cannot be compiled, or nil where it is not one event.
  public var event: EventReference?
  /// One line for the user.
  public var description: String

  /// Makes an error.
  public init(kind: Kind, event: EventReference? = nil, description: String) {
    self.kind = kind
    self.event = event
    self.description = description
  }
}
