internal import HapticFormats
internal import Reading

/// Makes the elements of vibration XML into effects, and notes what it finds.
///
/// Source: the parsers of aosp-mirror/platform_frameworks_base
/// (`com.android.internal.vibrator.persistence`, 02d3e65), which accept nothing but what is here.
struct VibrationDecoder {
  let tree: XMLTree
  var log = FindingLog()
  /// The effects of the file; several where the device chooses one.
  var effects: [VibrationEffect] = []
  /// The number of the element of the first effect.
  private(set) var firstEffect = 0

  init(_ tree: XMLTree) { self.tree = tree }

  /// Reads everything that can be read; what cannot is in the log as an error.
  mutating func decode() {
    guard !tree.elements.isEmpty else { return }
    switch name(0) {
    case .vibrationEffect, .vibration: decodeVibration(0)
    case .vibrationSelect:
      checkAttributes(of: 0, [])
      var count = 0
      for child in children(of: 0) {
        guard name(child) == .vibrationEffect else {
          unexpected(child, in: 0)
          continue
        }
        count += 1
        if count == 1 { firstEffect = child }
        decodeVibration(child)
      }
      if count != 1 {
        add(
          .androidChoice, at: 0,
          count == 0
            ? "there is no effect to choose from: nothing is played"
            : "the first of \(count) effects is read; a device plays the first it supports")
      }
    default:
      let root = tree.name(of: 0).quoted()
      add(.androidRoot, at: 0, "the root is \(root), not \"vibration-effect\" or \"vibration-select\"")
    }
  }

  private mutating func decodeVibration(_ element: Int) {
    checkAttributes(of: element, [])
    if let effect = decodeContent(of: element, bareEntries: false) { effects.append(effect) }
  }

  /// The one effect that an element holds.
  ///
  /// - Parameter bareEntries: Whether entries of a waveform stand by themselves, as in the parts of
  ///   a repeating effect, where in turn nothing repeats.
  private mutating func decodeContent(of element: Int, bareEntries: Bool) -> VibrationEffect? {
    let children = children(of: element)
    guard let first = children.first else {
      let name = tree.name(of: element)
      add(.androidEmpty, at: element, "\(name) is empty")
      return nil
    }
    var single = true
    var effect: VibrationEffect?
    switch name(first) {
    case .predefinedEffect: effect = decodePredefined(first)
    case .basicEnvelopeEffect: effect = decodeBasicEnvelope(first)
    case .waveformEnvelopeEffect: effect = decodeWaveformEnvelope(first)
    case .waveformEffect where !bareEntries: effect = decodeWaveform(first)
    case .repeatingEffect where !bareEntries: effect = decodeRepeating(first)
    case .primitiveEffect:
      single = false
      effect = .primitives(
        children.filter { expect(.primitiveEffect, $0, in: element) }.compactMap { decodePrimitive($0) })
    case .waveformEntry where bareEntries:
      single = false
      let steps = children.filter { expect(.waveformEntry, $0, in: element) }.compactMap { decodeStep($0) }
      checkLength(of: steps, element)
      effect = .waveform(steps, repeatIndex: nil)
    case .vendorEffect: add(.androidVendorEffect, at: first, "a vendor effect cannot be read")
    default: unexpected(first, in: element)
    }
    if single { for child in children.dropFirst() { unexpected(child, in: element) } }
    return effect
  }

  // MARK: Effects

  private mutating func decodePredefined(_ element: Int) -> VibrationEffect? {
    checkAttributes(of: element, .init(.name))
    checkEmpty(element)
    return word(.name, of: element, VibrationPrimitives.Predefined.self).map { .predefined($0) }
  }

  private mutating func decodePrimitive(_ element: Int) -> VibrationEffect.Primitive? {
    checkAttributes(of: element, .primitive)
    checkEmpty(element)
    let scale = real(.scale, of: element, isOptional: true, 0...1, "0 to 1")
    let delay = whole(.delayMs, of: element, isOptional: true, 0...Int(Int32.max))
    var isFromStart = false
    if let type = attribute(.delayType, of: element) {
      switch tree.string(tree.attributes[type]) {
      case "pause": break
      case "relative_start_offset": isFromStart = true
      default: invalid(type, of: element, "must be pause or relative_start_offset")
      }
    }
    return word(.name, of: element, VibrationPrimitives.Primitive.self).map {
      VibrationEffect.Primitive(name: $0, scale: scale ?? 1, delay: delay ?? 0, isFromStart: isFromStart)
    }
  }

  private mutating func decodeWaveform(_ element: Int) -> VibrationEffect {
    checkAttributes(of: element, [])
    var steps: [VibrationEffect.Step] = []
    var repeatIndex: Int?
    for child in children(of: element) {
      if repeatIndex != nil {
        unexpected(child, in: element)
      } else if name(child) == .repeating {
        repeatIndex = steps.count
        checkAttributes(of: child, [])
        let entries = children(of: child)
        if entries.isEmpty { add(.androidEmpty, at: child, "repeating is empty") }
        steps += entries.filter { expect(.waveformEntry, $0, in: child) }.compactMap { decodeStep($0) }
      } else if expect(.waveformEntry, child, in: element), let step = decodeStep(child) {
        steps.append(step)
      }
    }
    checkLength(of: steps, element)
    return .waveform(steps, repeatIndex: repeatIndex)
  }

  private mutating func decodeStep(_ element: Int) -> VibrationEffect.Step? {
    checkAttributes(of: element, .step)
    checkEmpty(element)
    let duration = whole(.durationMs, of: element, 0...Int(Int32.max))
    var amplitude: Int?
    if let given = attribute(.amplitude, of: element),
      tree.values[tree.attributes[given].value].elementsEqual("default".utf8)
    {
    } else {
      guard let number = whole(.amplitude, of: element, 0...VibrationEffect.fullAmplitude) else { return nil }
      amplitude = number
    }
    return duration.map { VibrationEffect.Step(duration: $0, amplitude: amplitude) }
  }

  private mutating func checkLength(of steps: [VibrationEffect.Step], _ element: Int) {
    guard log.errorCount == 0, !steps.contains(where: { $0.duration > 0 }) else { return }
    add(.androidNoLength, at: element, "the durations of the waveform are all 0")
  }

  private mutating func decodeBasicEnvelope(_ element: Int) -> VibrationEffect {
    checkAttributes(of: element, .init(.initialSharpness))
    let initial = real(.initialSharpness, of: element, isOptional: true, 0...1, "0 to 1")
    var points: [VibrationEffect.BasicPoint] = []
    for child in children(of: element) where expect(.controlPoint, child, in: element) {
      checkAttributes(of: child, .basicPoint)
      checkEmpty(child)
      let intensity = real(.intensity, of: child, 0...1, "0 to 1")
      let sharpness = real(.sharpness, of: child, 0...1, "0 to 1")
      let duration = whole(.durationMs, of: child, 1...Int(Int32.max))
      points.append(.init(intensity: intensity ?? 0, sharpness: sharpness ?? 0, duration: duration ?? 1))
    }
    if points.isEmpty {
      add(.androidEmpty, at: element, "basic-envelope-effect has no control-point")
    } else if let last = points.last, last.intensity != 0 {
      add(
        .androidEnvelopeEnd, at: element, "the envelope ends with intensity \(last.intensity), not 0",
        hint: "add a control-point with intensity 0")
    }
    return .basicEnvelope(initialSharpness: initial, points)
  }

  private mutating func decodeWaveformEnvelope(_ element: Int) -> VibrationEffect {
    checkAttributes(of: element, .init(.initialFrequencyHz))
    let hertz = Float.leastNonzeroMagnitude...Float.greatestFiniteMagnitude
    let initial = real(.initialFrequencyHz, of: element, isOptional: true, hertz, "greater than 0")
    var points: [VibrationEffect.WaveformPoint] = []
    for child in children(of: element) where expect(.controlPoint, child, in: element) {
      checkAttributes(of: child, .waveformPoint)
      checkEmpty(child)
      let amplitude = real(.amplitude, of: child, 0...1, "0 to 1")
      let frequency = real(.frequencyHz, of: child, hertz, "greater than 0")
      let duration = whole(.durationMs, of: child, 1...Int(Int32.max))
      points.append(.init(amplitude: amplitude ?? 0, hertz: frequency ?? 1, duration: duration ?? 1))
    }
    if points.isEmpty { add(.androidEmpty, at: element, "waveform-envelope-effect has no control-point") }
    return .waveformEnvelope(initialHertz: initial, points)
  }

  private mutating func decodeRepeating(_ element: Int) -> VibrationEffect? {
    checkAttributes(of: element, [])
    var rest = children(of: element)[...]
    var preamble: VibrationEffect?
    if let first = rest.first, name(first) == .preamble {
      checkAttributes(of: first, [])
      preamble = decodeContent(of: first, bareEntries: true)
      rest.removeFirst()
    }
    guard let next = rest.popFirst() else {
      add(.androidEmpty, at: element, "repeating-effect has no repeating")
      return nil
    }
    guard expect(.repeating, next, in: element) else { return nil }
    checkAttributes(of: next, [])
    let repeating = decodeContent(of: next, bareEntries: true)
    for child in rest { unexpected(child, in: element) }
    return repeating.map { .repeating(preamble: preamble, $0) }
  }
}
