internal import HapticModel
package import RealtimeMemory

/// The memory that a plan's view refers to. It comes from a compilation or from a serialized plan.
final class PlanMemory {
  let planView: PlanView
  private let voices: FixedBuffer<PlannedVoice>
  private let segments: FixedBuffer<ControlSegment>
  private let sounds: FixedBuffer<AudioBufferView>
  private let layers: FixedBuffer<LayerTracks>
  private let envelopes: FixedBuffer<PlannedEnvelope>
  private let levelTables: LevelTables?
  private let retainedSounds: [AudioBuffer]
  private let serializedBytes: FixedBuffer<UInt8>

  /// Moves the result of a compilation into memory with fixed addresses.
  init(_ builder: consuming RenderPlanBuilder) {
    levelTables = builder.levelTables
    retainedSounds = builder.sounds
    let minimumRampFrames = builder.minimumRampFrameCount
    let mappings = builder.mappings
    let rate = builder.rate
    let loopFrameCount = builder.loopFrameCount
    let soundingFrameCount = max(builder.loopFrameCount, builder.soundEndFrame)
    segments = FixedBuffer(builder.segments)
    layers = FixedBuffer(builder.layerTracks)
    envelopes = FixedBuffer(builder.envelopes)
    sounds = FixedBuffer(
      retainedSounds.map { sound in
        unsafe AudioBufferView(
          interleavedSamples: sound.interleavedSamples.view, frameCount: sound.frameCount,
          channelCount: sound.channelCount)
      })
    voices = FixedBuffer(builder.voices)
    serializedBytes = FixedBuffer(repeating: 0, count: 0)
    var maximumVoiceFrameCount: Int64 = 0
    for index in 0..<voices.count where !voices[index].source.isBurst {
      maximumVoiceFrameCount = max(maximumVoiceFrameCount, voices[index].envelope.endFrame)
    }
    planView = unsafe PlanView(
      voices: voices.view, segments: segments.view, sounds: sounds.view, layerTracks: layers.view,
      envelopes: envelopes.view, mappings: mappings, loopFrameCount: loopFrameCount,
      soundingFrameCount: soundingFrameCount,
      minimumRampFrameCount: minimumRampFrames, rate: rate,
      maximumVoiceFrameCount: maximumVoiceFrameCount)
  }

  /// Creates the memory of a plan from its serialized bytes.
  ///
  /// Returns nil if this build did not write the bytes.
  init?(_ bytes: consuming FixedBuffer<UInt8>, count: Int, _ header: PlanHeader) {
    let sections = PlanSections(header)
    guard header.matchesThisBuild, sections.byteCount == count, count <= bytes.count else {
      return nil
    }
    let serializedStart = unsafe UnsafeMutableRawPointer(bytes.address)
    func sectionView<Element: BitwiseCopyable>(
      _ section: PlanSections.Section, _ type: Element.Type
    ) -> BufferView<Element> {
      unsafe BufferView(
        start: (serializedStart + section.byteOffset).assumingMemoryBound(to: Element.self),
        count: section.elementCount)
    }
    let soundSizes = sectionView(sections.sounds, StoredSoundSize.self)
    let storedSamples = sectionView(sections.samples, Float.self)
    var nextSampleIndex = 0
    sounds = FixedBuffer(count: soundSizes.count) { index in
      let size = soundSizes[index]
      let count = Int(size.frameCount) * Int(size.channelCount)
      let start = min(nextSampleIndex, storedSamples.count)
      nextSampleIndex += count
      return AudioBufferView(
        interleavedSamples: storedSamples.slice(
          from: start, count: min(count, storedSamples.count - start)),
        frameCount: Int(size.frameCount), channelCount: Int(size.channelCount))
    }
    guard nextSampleIndex == storedSamples.count else { return nil }
    var voiceMappings = header.mappings
    voiceMappings.replaceTables(with: sectionView(sections.tables, Float.self))
    self.planView = unsafe PlanView(
      voices: sectionView(sections.voices, PlannedVoice.self),
      segments: sectionView(sections.segments, ControlSegment.self), sounds: sounds.view,
      layerTracks: sectionView(sections.layers, LayerTracks.self),
      envelopes: sectionView(sections.envelopes, PlannedEnvelope.self), mappings: voiceMappings,
      loopFrameCount: header.loopFrameCount,
      soundingFrameCount: max(header.loopFrameCount, header.soundEndFrame),
      minimumRampFrameCount: header.minimumRampFrameCount, rate: header.rate,
      maximumVoiceFrameCount: header.maximumVoiceFrameCount)
    unsafe voices = FixedBuffer(uninitialized: 0)
    unsafe segments = FixedBuffer(uninitialized: 0)
    unsafe layers = FixedBuffer(uninitialized: 0)
    unsafe envelopes = FixedBuffer(uninitialized: 0)
    levelTables = nil
    retainedSounds = []
    self.serializedBytes = bytes
  }
}

/// The header of a serialized plan.
struct PlanHeader: BitwiseCopyable {
  private static let magicNumber: UInt32 = 0x4D45_5450

  private var magicNumber = Self.magicNumber
  private var version = Int32(clamping: RenderPlan.renderingModelVersion)
  /// The sizes of a planned voice and of this header, which differ between architectures.
  private var layoutSignature = PlanHeader.layoutSignature
  let rate: Double
  let loopFrameCount: Int64
  let loopStartFrame: Int64
  let loopEndFrame: Int64
  let soundEndFrame: Int64
  let minimumRampFrameCount: Int64
  let maximumVoiceFrameCount: Int64
  let eventCount: Int32
  let maximumVoiceCount: Int32
  let voiceCapacity: Int32
  let voiceCount: Int32
  let segmentCount: Int32
  let layerCount: Int32
  let envelopeCount: Int32
  let soundCount: Int32
  let sampleCount: Int32
  let hasHaptics: Bool
  let hasAudio: Bool
  let mappings: VoiceMappings

  private static var layoutSignature: UInt32 {
    UInt32(
      truncatingIfNeeded: MemoryLayout<PlannedVoice>.stride << 16 | MemoryLayout<PlanHeader>.stride)
  }

  init(_ plan: RenderPlan) {
    let planView = plan.planView.value
    rate = plan.rate
    loopFrameCount = plan.loopFrameCount
    soundEndFrame = plan.soundEndFrame
    minimumRampFrameCount = planView.minimumRampFrameCount
    loopStartFrame = plan.loopRange?.lowerBound ?? 0
    loopEndFrame = plan.loopRange?.upperBound ?? 0
    maximumVoiceFrameCount = planView.maximumVoiceFrameCount
    eventCount = Int32(clamping: plan.eventCount)
    maximumVoiceCount = Int32(clamping: plan.maximumVoiceCount)
    voiceCapacity = Int32(clamping: plan.voiceCapacity(passCount: nil, allowsLiveEnvelopes: true))
    voiceCount = Int32(clamping: planView.voices.count)
    segmentCount = Int32(clamping: planView.segments.count)
    layerCount = Int32(clamping: planView.layerTracks.count)
    envelopeCount = Int32(clamping: planView.envelopes.count)
    soundCount = Int32(clamping: planView.sounds.count)
    sampleCount = Int32(
      clamping: (0..<planView.sounds.count).reduce(0) {
        $0 + planView.sounds[$1].frameCount * planView.sounds[$1].channelCount
      })
    hasHaptics = plan.hasHaptics
    hasAudio = plan.hasAudio
    mappings = planView.mappings
  }

  /// A Boolean value that indicates whether the data has the layout of this build.
  var matchesThisBuild: Bool {
    magicNumber == Self.magicNumber && version == Int32(clamping: RenderPlan.renderingModelVersion)
      && layoutSignature == Self.layoutSignature
      && [voiceCount, segmentCount, layerCount, envelopeCount, soundCount, sampleCount].allSatisfy {
        $0 >= 0
      }
  }
}

/// The size of a sound in a serialized plan.
struct StoredSoundSize: BitwiseCopyable {
  let frameCount: Int32
  let channelCount: Int32
}

/// The sections of a serialized plan.
struct PlanSections {
  struct Section {
    let byteOffset: Int
    let elementCount: Int
    let byteCount: Int
  }

  private(set) var byteCount: Int
  let voices: Section
  let segments: Section
  let layers: Section
  let envelopes: Section
  let tables: Section
  let sounds: Section
  let samples: Section

  init(_ header: PlanHeader) {
    var sectionsEndOffset = Self.alignedByteCount(MemoryLayout<PlanHeader>.size)
    func appendSection<Element>(_ count: Int32, _ type: Element.Type) -> Section {
      let section = Section(
        byteOffset: sectionsEndOffset, elementCount: Int(count),
        byteCount: Int(count) * MemoryLayout<Element>.stride)
      sectionsEndOffset += Self.alignedByteCount(section.byteCount)
      return section
    }
    voices = appendSection(header.voiceCount, PlannedVoice.self)
    segments = appendSection(header.segmentCount, ControlSegment.self)
    layers = appendSection(header.layerCount, LayerTracks.self)
    envelopes = appendSection(header.envelopeCount, PlannedEnvelope.self)
    tables = appendSection(Int32(4 * LevelTables.sharpnessPointCount), Float.self)
    sounds = appendSection(header.soundCount, StoredSoundSize.self)
    samples = appendSection(header.sampleCount, Float.self)
    byteCount = sectionsEndOffset
  }

  private static func alignedByteCount(_ count: Int) -> Int { (count + 15) / 16 * 16 }
}

extension RenderPlan {
  /// Returns the plan as bytes that the same build can load without compiling the pattern again.
  ///
  /// The serialized plan is about as large as the plan in memory.
  package func serialized() -> FixedBuffer<UInt8> {
    let header = PlanHeader(self)
    let sections = PlanSections(header)
    let planBytes = FixedBuffer<UInt8>(repeating: 0, count: sections.byteCount)
    let planBytesStart = unsafe UnsafeMutableRawPointer(planBytes.address)
    func copyElements<Element: BitwiseCopyable>(_ elements: BufferView<Element>, to offset: Int) {
      guard elements.count > 0 else { return }
      unsafe (planBytesStart + offset).copyMemory(
        from: elements.address, byteCount: elements.count * MemoryLayout<Element>.stride)
    }
    let planContents = planView.value
    unsafe planBytesStart.storeBytes(of: header, as: PlanHeader.self)
    copyElements(planContents.voices, to: sections.voices.byteOffset)
    copyElements(planContents.segments, to: sections.segments.byteOffset)
    copyElements(planContents.layerTracks, to: sections.layers.byteOffset)
    copyElements(planContents.envelopes, to: sections.envelopes.byteOffset)
    copyElements(planContents.mappings.tables, to: sections.tables.byteOffset)
    var sampleByteOffset = sections.samples.byteOffset
    for index in 0..<planContents.sounds.count {
      let sound = planContents.sounds[index]
      let size = StoredSoundSize(
        frameCount: Int32(clamping: sound.frameCount),
        channelCount: Int32(clamping: sound.channelCount))
      let sizeOffset = sections.sounds.byteOffset + index * MemoryLayout<StoredSoundSize>.stride
      unsafe (planBytesStart + sizeOffset).storeBytes(of: size, as: StoredSoundSize.self)
      copyElements(sound.interleavedSamples, to: sampleByteOffset)
      sampleByteOffset += sound.frameCount * sound.channelCount * MemoryLayout<Float>.stride
    }
    return planBytes
  }

  /// Creates a plan that refers to its serialized bytes.
  ///
  /// Returns nil if this build did not write the bytes.
  ///
  /// The bytes must come from ``serialized()``; they aren't validated.
  ///
  /// - Parameters:
  ///   - bytes: The memory, aligned to 8 bytes.
  ///   - count: The number of bytes of the plan.
  /// - Complexity: O(*n*) in the number of sounds.
  package static func deserialized(
    from bytes: consuming FixedBuffer<UInt8>, count: Int
  ) -> RenderPlan? {
    guard count >= MemoryLayout<PlanHeader>.size, count <= bytes.count else { return nil }
    let planHeader = unsafe UnsafeRawPointer(bytes.address).load(as: PlanHeader.self)
    guard let planMemory = PlanMemory(bytes, count: count, planHeader) else { return nil }
    return RenderPlan(planHeader, planMemory)
  }
}

extension BufferView<PlannedVoice> {
  /// Returns the index of the first voice that starts at a frame or later.
  ///
  /// - Complexity: O(log *n*).
  func firstVoiceIndex(startingAt frame: Int64) -> Int {
    (0..<count).prefixEndIndex { self[$0].onsetFrame < frame }
  }
}
