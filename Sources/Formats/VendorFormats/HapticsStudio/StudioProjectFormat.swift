public import HapticFormats
internal import HapticModel
internal import Reading

extension HapticFormat {
  /// The project format of Meta Haptics Studio: a JSON text with clips. Each contains a haptic clip
  /// as in ``hapticClip``, and the path of a sound file.
  ///
  /// A file is several patterns. Without a part, the clips follow each other. The sounds play with
  /// their clips. Source: facebook/haptics-studio, ea7a3d0, MIT license.
  public static let studioProject: HapticFormat = {
    var studioFormat = HapticFormat(
      "hasp", title: "Haptics Studio project (Meta)", fileExtensions: ["hasp"],
      rules: [.studioProjectInvalidStructure] + Rule.hapticClipRules,
      valueResolution: .exact,
      recognize: { bytes in
        guard let outline = JSONOutline(bytes), outline.hasRootKey("clips"),
          outline.hasRootKey("state")
        else { return .unrecognized }
        return outline.nestedKeys.contains("clipId") ? .certain : .possible
      },
      read: { (file, options) throws(InputError) in
        try StudioProject(file).readResult(part: file.part, options: options)
      })
    studioFormat.openParts = { (file) throws(InputError) in
      let project = try StudioProject(file)
      return PartReader(parts: project.clipParts) { part, options in
        project.readResult(part: part, options: options)
      }
    }
    return studioFormat
  }()
}

/// A Meta Haptics Studio project with its clips.
private struct StudioProject {
  private let jsonDocument: JSONDocument
  private let clipValues: [JSONValue]

  /// The pause between consecutive clips, in seconds.
  private static let pauseBetweenClipsSeconds = 0.5

  init(_ file: SourceFile) throws(InputError) {
    jsonDocument = try file.jsonDocument()
    clipValues = jsonDocument.root["clips"].map { Array($0.elements) } ?? []
  }

  /// The clips of the project that have haptics.
  var clipParts: [SourceFile.Part] {
    var projectParts: [SourceFile.Part] = []
    for (index, clip) in clipValues.enumerated() where clip["haptic"]?.kind == .object {
      projectParts.append(
        SourceFile.Part(index: index, name: clip["name"]?.string ?? "\(index + 1)"))
    }
    return projectParts
  }

  /// Reads one clip, or all clips as a sequence.
  func readResult(part: SourceFile.Part?, options: ReadingOptions) -> ReadResult {
    var log = FindingLog()
    guard let clips = jsonDocument.root["clips"], clips.kind == .array else {
      log.add(
        .studioProjectInvalidStructure, at: jsonDocument.root,
        "a project must have the key \"clips\" with an array")
      return makeReadResult(nil, log: log, options: options)
    }
    let selectedParts = part.map { [$0] } ?? clipParts
    var combinedClips = CombinedClips()
    for selectedPart in selectedParts {
      guard clipValues.indices.contains(selectedPart.index) else {
        log.add(
          .studioProjectInvalidStructure, at: clips,
          "the project has no clip \(selectedPart.index + 1)")
        continue
      }
      combinedClips.addClip(
        clipValues[selectedPart.index], readingOptions: options,
        pause: Self.pauseBetweenClipsSeconds)
    }
    if selectedParts.isEmpty {
      log.add(.studioProjectInvalidStructure, at: clips, "the project has no clips with haptics")
    }
    var readResult = makeReadResult(
      HapticComposition(
        layers: combinedClips.layers,
        title: part?.name ?? jsonDocument.root["metadata"]?["name"]?.string,
        notes: combinedClips.notes), log: log, options: options)
    readResult.findings = combinedClips.findings + readResult.findings
    readResult.errorCount += combinedClips.errorCount
    if readResult.errorCount > 0 {
      readResult.composition = nil
    }
    readResult.losses = options.wantsFindings ? combinedClips.losses : []
    readResult.soundReferences = combinedClips.soundReferences
    let sourceMaps = combinedClips.clipSourceMaps
    let clipsLocation = clips.location
    readResult.sourceMap = SourceMap { element in
      guard let layer = element.layerIndex, sourceMaps.indices.contains(layer) else {
        return clipsLocation
      }
      let (sourceMap, firstLayer) = sourceMaps[layer]
      return sourceMap.location(of: element.movedToLayer(layer - firstLayer))
    }
    return readResult
  }

  private func makeReadResult(
    _ composition: HapticComposition?, log: FindingLog, options: ReadingOptions
  ) -> ReadResult {
    ReadResult(
      composition, of: jsonDocument, log: log, options: options,
      sourceMap: SourceMap { [jsonDocument] _ in jsonDocument.root.location })
  }
}

/// A sequence of clips, as layers that have the names of the clips.
private struct CombinedClips {
  var layers: [HapticComposition.Layer] = []
  var findings: [Finding] = []
  var errorCount = 0
  var losses: [Loss] = []
  var soundReferences: [ReadResult.SoundReference] = []
  var notes: String?
  /// The source map of each layer's clip, with the index of the clip's first layer.
  var clipSourceMaps: [(map: SourceMap, firstLayer: Int)] = []
  /// The end time of the last clip in the sequence, in seconds.
  private var lastClipEndSeconds: Double?

  /// Adds a clip to the sequence after a pause.
  mutating func addClip(_ clip: JSONValue, readingOptions options: ReadingOptions, pause: Double) {
    guard let haptic = clip["haptic"] else { return }
    let clipResult = HapticClipDecoder.readResult(of: haptic, options: options)
    findings += clipResult.findings
    errorCount += clipResult.errorCount
    guard var composition = clipResult.composition else { return }
    let clipName = clip["name"]?.string ?? ""
    let clipStartSeconds = lastClipEndSeconds.map { $0 + pause } ?? 0
    lastClipEndSeconds = clipStartSeconds + composition.durationSeconds
    let firstClipLayerIndex = layers.count
    if let soundLayerOfClip = soundLayer(of: clip) {
      composition.layers.append(soundLayerOfClip)
    }
    for var layer in composition.layers {
      layer.name = clipName
      layer.delay(by: clipStartSeconds)
      layers.append(layer)
      clipSourceMaps.append((clipResult.sourceMap, firstClipLayerIndex))
    }
    if let clipNotes = clip["notes"]?.string, !clipNotes.isEmpty {
      notes = notes.map { "\($0) \(clipNotes)" } ?? clipNotes
    }
  }

  /// Returns a layer that plays the sound of a clip. A path outside the folder of the project is a
  /// loss.
  private mutating func soundLayer(of clip: JSONValue) -> HapticComposition.Layer? {
    guard let pathValue = clip["audioAsset"]?["path"], let path = pathValue.string, !path.isEmpty
    else {
      return nil
    }
    let isOutsideProjectFolder =
      path.hasPrefix("/") || path.split(separator: "/").contains("..")
      || path.utf8.contains(UInt8(ascii: "\\")) || path.utf8.contains(0)
    guard !isOutsideProjectFolder else {
      losses.append(
        Loss(
          .dropped, .composition, at: pathValue.location,
          "the sound file is outside the folder of the project"))
      return nil
    }
    soundReferences.append(.init(path: path, location: pathValue.location))
    let soundEvent = HapticEvent(kind: .audioCustom, time: 0, waveform: AudioWaveform(path: path))
    return HapticComposition.Layer(HapticPattern(events: [soundEvent]))
  }
}

extension CompositionElement {
  /// The index of the layer that contains the element, or nil for the whole composition.
  fileprivate var layerIndex: Int? {
    switch self {
    case .composition: nil
    case .layer(let layer): layer
    case .event(let event): event.layerIndex
    case .parameter(let layer, _): layer
    case .curve(let layer, _): layer
    }
  }

  /// Returns the same element in a different layer.
  fileprivate func movedToLayer(_ layer: Int) -> CompositionElement {
    switch self {
    case .composition: .composition
    case .layer: .layer(layer)
    case .event(let event): .event(EventReference(layerIndex: layer, eventIndex: event.eventIndex))
    case .parameter(_, let index): .parameter(layer: layer, index: index)
    case .curve(_, let index): .curve(layer: layer, index: index)
    }
  }
}

extension Rule {
  static let studioProjectInvalidStructure = error(
    "project", "grammar", "A project must have an array of clips with haptics.")
}
