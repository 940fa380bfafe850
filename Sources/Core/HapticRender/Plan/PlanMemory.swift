package import RealtimeMemory

/// The memory that a plan's view refers to: what compiling has made, or the bytes of a plan as they
/// came.
final class PlanMemory {
  let view: PlanView
  private let voices: FixedBuffer<PlannedVoice>
  private let segments: FixedBuffer<ControlSegment>
  private let sounds: FixedBuffer<AudioBufferView>
  private let layers: FixedBuffer<LayerTracks>
  private let envelopes: FixedBuffer<PlannedEnvelope>
  private let tables: LevelTables?
  private let soundBuffers: [AudioBuffer]
  private let bytes: FixedBuffer<UInt8>

  init(_ draft: consuming RenderPlanBuilder) {
    tables = draft.tables
    soundBuffers = draft.sounds
    let edge = draft.minimumRampLength
    let mappings = draft.mappings
    let rate = draft.rate
    let loopLength = draft.loopLength
    let length = max(draft.loopLength, draft.soundEnd)
    segments = FixedBuffer(draft.segments)
    layers = FixedBuffer(draft.layerTracks)
    envelopes = FixedBuffer(draft.envelopes)
    sounds = FixedBuffer(
      soundBuffers.map { sample in
        unsafe AudioBufferView(
          frames: sample.frames.view, frameCount: sample.frameCount,
          channelCount: sample.channelCount)
      })
    voices = FixedBuffer(draft.voices)
    bytes = FixedBuffer(repeating: 0, count: 0)
    var longestHold: Int64 = 0
    for index in 0..<voices.count where !voices[index].source.isBurst {
      longestHold = max(longestHold, voices[index].envelope.end)
    }
    view = unsafe PlanView(
      voices: voices.view, segments: segments.view, sounds: sounds.view, layers: layers.view,
      envelopes: envelopes.view,
      mappings: mappings, loopLength: loopLength, length: length, minimumRampLength: edge,
      rate: rate,
      maximumHoldLength: longestHold)
  }

  /// Memory that holds the bytes of a plan; nil where they are not those of a plan of this build.
  init?(_ bytes: consuming FixedBuffer<UInt8>, count: Int, _ header: PlanHeader) {
    let sections = PlanSections(header)
    guard header.matchesThisBuild, sections.byteCount == count, count <= bytes.count else {
      return nil
    }
    let start = unsafe UnsafeMutableRawPointer(bytes.address)
    func place<Element: BitwiseCopyable>(_ section: PlanSections.Section, _ type: Element.Type)
      -> BufferView<Element>
    {
      unsafe BufferView(
        start: (start + section.offset).assumingMemoryBound(to: Element.self),
        count: section.elementCount)
    }
    let lengths = place(sections.sounds, StoredSoundSize.self)
    let frames = place(sections.samples, Float.self)
    var next = 0
    sounds = FixedBuffer(count: lengths.count) { index in
      let sound = lengths[index]
      let count = Int(sound.frameCount) * Int(sound.channelCount)
      defer { next += count }
      return AudioBufferView(
        frames: frames.slice(
          from: min(next, frames.count), count: min(count, frames.count - min(next, frames.count))),
        frameCount: Int(sound.frameCount), channelCount: Int(sound.channelCount))
    }
    guard next == frames.count else { return nil }
    var mappings = header.mappings
    mappings.setTables(place(sections.tables, Float.self))
    view = unsafe PlanView(
      voices: place(sections.voices, PlannedVoice.self),
      segments: place(sections.segments, ControlSegment.self),
      sounds: sounds.view, layers: place(sections.layers, LayerTracks.self),
      envelopes: place(sections.envelopes, PlannedEnvelope.self), mappings: mappings,
      loopLength: header.loopLength,
      length: max(header.loopLength, header.soundEnd), minimumRampLength: header.minimumRampLength,
      rate: header.rate,
      maximumHoldLength: header.maximumHoldLength)
    unsafe voices = FixedBuffer(uninitialized: 0)
    unsafe segments = FixedBuffer(uninitialized: 0)
    unsafe layers = FixedBuffer(uninitialized: 0)
    unsafe envelopes = FixedBuffer(uninitialized: 0)
    tables = nil
    soundBuffers = []
    self.bytes = bytes
  }
}

/// What stands in front of a plan's bytes.
struct PlanHeader: BitwiseCopyable {
  private static let magicNumber: UInt32 = 0x4D45_5450

  private var magicNumber = Self.magicNumber
  private var version = Int32(clamping: RenderPlan.modelVersion)
  /// The size of a voice and of this, which differ between machines.
  private var layoutSignature = PlanHeader.layoutSignature
  let rate: Double
  let loopLength, loopStart, loopEnd, soundEnd, minimumRampLength, maximumHoldLength: Int64
  let eventCount, maximumVoiceCount, voiceCapacity, voiceCount, segmentCount, layerCount,
    envelopeCount, soundCount,
    sampleCount: Int32
  let hasHaptics, hasAudio: Bool
  let mappings: VoiceMappings

  private static var layoutSignature: UInt32 {
    UInt32(
      truncatingIfNeeded: MemoryLayout<PlannedVoice>.stride << 16 | MemoryLayout<PlanHeader>.stride)
  }

  init(_ plan: RenderPlan) {
    let view = plan.view.value
    rate = plan.rate
    loopLength = plan.loopLength
    soundEnd = plan.soundEnd
    minimumRampLength = view.minimumRampLength
    loopStart = plan.loopRange?.lowerBound ?? 0
    loopEnd = plan.loopRange?.upperBound ?? 0
    maximumHoldLength = view.maximumHoldLength
    eventCount = Int32(clamping: plan.eventCount)
    maximumVoiceCount = Int32(clamping: plan.maximumVoiceCount)
    voiceCapacity = Int32(clamping: plan.voiceCapacity(passCount: nil, allowsLiveEnvelopes: true))
    voiceCount = Int32(clamping: view.voices.count)
    segmentCount = Int32(clamping: view.segments.count)
    layerCount = Int32(clamping: view.layers.count)
    envelopeCount = Int32(clamping: view.envelopes.count)
    soundCount = Int32(clamping: view.sounds.count)
    sampleCount = Int32(
      clamping: (0..<view.sounds.count).reduce(0) {
        $0 + view.sounds[$1].frameCount * view.sounds[$1].channelCount
      })
    hasHaptics = plan.hasHaptics
    hasAudio = plan.hasAudio
    mappings = view.mappings
  }

  /// Whether the bytes behind it are laid out as this build has them.
  var matchesThisBuild: Bool {
    magicNumber == Self.magicNumber && version == Int32(clamping: RenderPlan.modelVersion)
      && layoutSignature == Self.layoutSignature
      && [voiceCount, segmentCount, layerCount, envelopeCount, soundCount, sampleCount].allSatisfy {
        $0 >= 0
      }
  }
}

/// The size of a sound among a plan's bytes.
struct StoredSoundSize: BitwiseCopyable { let frameCount, channelCount: Int32 }

struct PlanSections {
  struct Section { let offset, elementCount, byteCount: Int }

  private(set) var byteCount: Int
  let voices, segments, layers, envelopes, tables, sounds, samples: Section

  init(_ header: PlanHeader) {
    var end = Self.aligned(MemoryLayout<PlanHeader>.size)
    func section<Element>(_ count: Int32, _ type: Element.Type) -> Section {
      let section = Section(
        offset: end, elementCount: Int(count), byteCount: Int(count) * MemoryLayout<Element>.stride)
      end += Self.aligned(section.byteCount)
      return section
    }
    voices = section(header.voiceCount, PlannedVoice.self)
    segments = section(header.segmentCount, ControlSegment.self)
    layers = section(header.layerCount, LayerTracks.self)
    envelopes = section(header.envelopeCount, PlannedEnvelope.self)
    tables = section(Int32(4 * LevelTables.pointCount), Float.self)
    sounds = section(header.soundCount, StoredSoundSize.self)
    samples = section(header.sampleCount, Float.self)
    byteCount = end
  }

  private static func aligned(_ count: Int) -> Int { (count + 15) / 16 * 16 }
}

extension RenderPlan {
  /// The plan as bytes that another instance of the same build places as they are, with none of the
  /// work of compiling: about as many as the plan takes of memory.
  package func serialized() -> FixedBuffer<UInt8> {
    let header = PlanHeader(self)
    let sections = PlanSections(header)
    let bytes = FixedBuffer<UInt8>(repeating: 0, count: sections.byteCount)
    let start = unsafe UnsafeMutableRawPointer(bytes.address)
    func copy<Element: BitwiseCopyable>(_ elements: BufferView<Element>, to offset: Int) {
      guard elements.count > 0 else { return }
      unsafe (start + offset).copyMemory(
        from: elements.address, byteCount: elements.count * MemoryLayout<Element>.stride)
    }
    let view = view.value
    unsafe start.storeBytes(of: header, as: PlanHeader.self)
    copy(view.voices, to: sections.voices.offset)
    copy(view.segments, to: sections.segments.offset)
    copy(view.layers, to: sections.layers.offset)
    copy(view.envelopes, to: sections.envelopes.offset)
    copy(view.mappings.tables, to: sections.tables.offset)
    var frame = sections.samples.offset
    for index in 0..<view.sounds.count {
      let sound = view.sounds[index]
      let size = StoredSoundSize(
        frameCount: Int32(clamping: sound.frameCount),
        channelCount: Int32(clamping: sound.channelCount))
      unsafe (start + sections.sounds.offset + index * MemoryLayout<StoredSoundSize>.stride)
        .storeBytes(
          of: size, as: StoredSoundSize.self)
      copy(sound.frames, to: frame)
      frame += sound.frameCount * sound.channelCount * MemoryLayout<Float>.stride
    }
    return bytes
  }

  /// A plan in the memory that holds its bytes; nil where they are not those of a plan of this
  /// build.
  ///
  /// The bytes are trusted: they come from ``bytes()``. Takes time in proportion to the sounds
  /// alone.
  ///
  /// - Parameter bytes: Memory aligned to 8 bytes.
  package static func deserialized(from bytes: consuming FixedBuffer<UInt8>, count: Int)
    -> RenderPlan?
  {
    guard count >= MemoryLayout<PlanHeader>.size, count <= bytes.count else { return nil }
    let header = unsafe UnsafeRawPointer(bytes.address).load(as: PlanHeader.self)
    guard let memory = PlanMemory(bytes, count: count, header) else { return nil }
    return RenderPlan(header, memory)
  }
}

extension BufferView<PlannedVoice> {
  /// The index of the first voice that does not begin before a frame: O(log n).
  func firstIndex(startingAt frame: Int64) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle].onset < frame {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }
}
