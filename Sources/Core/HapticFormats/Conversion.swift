public import HapticModel
public import Reading

/// Something a reader or writer could not keep.
public struct Loss: Equatable, Sendable {
  /// What became of it.
  public enum Kind: String, Sendable {
    /// It is there, but not exactly.
    case approximated
    /// It is gone.
    case dropped
  }

  /// What became of it.
  public var kind: Kind
  /// What it is about; the whole composition where it is of no part.
  public var element: CompositionElement
  /// Where it is in the file that was read, or nil for the place of the element.
  public var location: FileLocation?
  /// One sentence, with its size where it has one, and without a full stop.
  public var message: String
  /// How large the difference is, in the unit the message names, or nil.
  public var size: Double?

  /// Makes a loss.
  public init(
    _ kind: Kind, _ element: CompositionElement, at place: FileLocation? = nil, _ message: String,
    size: Double? = nil
  ) {
    self.kind = kind
    self.element = element
    self.location = place
    self.message = message
    self.size = size
  }
}

/// The losses of one reading or writing: equal ones of one element are joined, with the largest
/// size, and very many of one sentence are counted. A `#` in a sentence stands for the size.
package struct LossLog {
  private struct Key: Hashable {
    var kind: Loss.Kind
    var element: CompositionElement
    var message: String
  }

  package let maximumCountPerMessage: Int
  private(set) var losses: [Loss] = []
  private var indicesByKey: [Key: Int] = [:]
  private var countsByMessage: [String: Int] = [:]

  package init(maximumCountPerMessage limit: Int = 1000) { self.maximumCountPerMessage = limit }

  /// Adds a loss, or makes the one there is as large as this.
  package mutating func add(
    _ kind: Loss.Kind, _ element: CompositionElement, at place: FileLocation? = nil,
    _ message: String,
    size: Double? = nil
  ) {
    let key = Key(kind: kind, element: element, message: message)
    if let index = indicesByKey[key] {
      if let size {
        losses[index].size = max(losses[index].size ?? size, size)
      }
      return
    }
    countsByMessage[message, default: 0] += 1
    guard countsByMessage[message, default: 0] <= maximumCountPerMessage else { return }
    indicesByKey[key] = losses.count
    losses.append(Loss(kind, element, at: place, message, size: size))
  }

  /// The losses in the order in which they were added, each sentence that was cut closed by a count
  /// of the others.
  package func finish() -> [Loss] {
    let uncounted = countsByMessage.filter { $0.value > maximumCountPerMessage }.sorted {
      $0.key < $1.key
    }
    let closing = uncounted.map { message, count in
      let last = losses.last { $0.message == message } ?? Loss(.dropped, .composition, message)
      return Loss(
        last.kind, .composition,
        "\(count - maximumCountPerMessage) more: \(Self.messageWithSize(of: last))")
    }
    return losses.map { loss in
      var loss = loss
      loss.message = Self.messageWithSize(of: loss)
      return loss
    } + closing
  }

  /// The message of a loss with its size to three digits.
  private static func messageWithSize(of loss: Loss) -> String {
    guard let size = loss.size, size.isFinite, loss.message.contains("#") else {
      return loss.message
    }
    var scale = 1.0
    while abs(size) * scale < 100, scale < 1e9 {
      scale *= 10
    }
    let rounded = (size * scale).rounded() / scale
    let text =
      abs(rounded) < 1e15 && rounded == rounded.rounded() ? "\(Int64(rounded))" : "\(rounded)"
    return loss.message.split(separator: "#", omittingEmptySubsequences: false).joined(
      separator: text)
  }

  package mutating func addTextLosses(of composition: HapticComposition) {
    if composition.title != nil {
      add(.dropped, .composition, "the title cannot be written")
    }
    if composition.notes != nil {
      add(.dropped, .composition, "the notes cannot be written")
    }
  }

  /// Adds the losses of formats of haptic events alone: events that play sound, sampled signals,
  /// controls that last longer than all events, and places.
  package mutating func addNonHapticLosses(
    of composition: HapticComposition, keepsBodyLocations keepsPlaces: Bool = false
  ) {
    for (layer, each) in composition.layers.enumerated() {
      for (index, event) in each.pattern.events.enumerated() where !event.kind.isHaptic {
        add(
          .dropped, .event(EventReference(layer: layer, event: index)),
          "audio events cannot be written")
      }
      if !each.signals.isEmpty {
        add(.dropped, .layer(layer), "sampled signals cannot be written")
      }
    }
    if !keepsPlaces {
      addBodyLocationLosses(of: composition)
    }
    var end = 0.0
    for layer in composition.layers {
      for event in layer.pattern.events {
        end = max(end, event.time + (event.duration ?? 0))
      }
      for signal in layer.signals {
        end = max(end, signal.time + signal.duration)
      }
    }
    if composition.duration > end + 1e-3, end.isFinite {
      add(
        .dropped, .composition, "the length beyond the last event, # s of controls alone",
        size: composition.duration - end)
    }
  }

  package mutating func addBodyLocationLosses(of composition: HapticComposition) {
    for (layer, each) in composition.layers.enumerated() {
      guard let place = each.bodyLocation else { continue }
      add(
        .approximated, .layer(layer),
        "what is felt at \(place.displayName) alone is felt everywhere")
    }
  }
}

extension HapticComposition {
  /// The most events that passes of a loop are written out to.
  package static let maximumUnrolledEventCount = 1_000_000

  /// The composition with its loop played a number of times in all and no loop points; itself
  /// without them where it has none.
  ///
  /// The first pass begins at 0, each further one at the start of the loop, with what sounds there
  /// and the values that controls have there. Events that reach over the end of a pass are cut.
  ///
  /// - Parameters:
  ///   - count: How many passes; fewer where their events would be too many.
  ///   - losses: Gets a loss, since a loop is endless.
  package func unrolled(passCount count: Int, losses: inout LossLog) -> HapticComposition {
    guard let loop else { return self }
    var composition = self
    composition.loop = nil
    let end = loop.end ?? duration
    let start = min(max(loop.start, 0), end)
    let events = max(layers.reduce(0) { $0 + $1.pattern.events.count }, 1)
    let passes =
      end > start ? min(max(count, 1), max(Self.maximumUnrolledEventCount / events, 1)) : 1
    losses.add(
      .approximated, .composition,
      "the loop from \(start) s to \(end) s is written \(passes == 1 ? "once" : "\(passes) times")")
    guard passes > 1 || loop.end != nil else { return composition }
    for index in layers.indices {
      let pattern = layers[index].pattern
      var controls = UnrolledControls(of: pattern)
      var events: [HapticEvent] = []
      for pass in 0..<passes {
        let from = pass == 0 ? 0 : start
        let shift = Double(pass) * (end - start)
        events += pattern.events.compactMap {
          $0.clipped(from: from, to: end, isFirstPass: pass == 0)
        }.map { event in
          var event = event
          event.time += shift
          return event
        }
        controls.appendPass(from: from, to: end, shift: shift)
      }
      composition.layers[index].pattern = HapticPattern(events: events, curves: controls.curves)
    }
    return composition
  }
}

extension HapticEvent {
  /// The part of the event between two times, or nil where there is none.
  fileprivate func clipped(from: Double, to: Double, isFirstPass isFirst: Bool) -> HapticEvent? {
    guard time < to || (time == to && isFirst && kind.isTransient) else { return nil }
    var event = self
    if kind.isContinuous {
      let ends = min(time + (duration ?? Self.defaultDuration), to)
      event.time = max(time, from)
      guard ends > event.time else { return nil }
      event.duration = ends - event.time
      if event.time > time {
        event.parameters[.attackTime] = 0
      }
    } else if time < from {
      return nil
    }
    return event
  }
}

/// The controls of one layer, pass by pass, as one curve each.
private struct UnrolledControls {
  private var tracks: [(timeline: ControlTimeline, curve: ParameterCurve)] = []

  init(of pattern: HapticPattern) {
    let used = Set(pattern.parameters.map { $0.id } + pattern.curves.map { $0.id })
    for id in DynamicParameterID.allCases where used.contains(id) {
      tracks.append(
        (ControlTimeline(of: id, in: pattern), ParameterCurve(id: id, time: 0, controlPoints: [])))
    }
  }

  var curves: [ParameterCurve] { tracks.map { $0.curve } }

  mutating func appendPass(from: Double, to: Double, shift: Double) {
    for index in tracks.indices {
      let segments = tracks[index].timeline.segments
      var place = tracks[index].timeline.index(at: from)
      while place < segments.count, segments[place].start < to {
        let segment = segments[place]
        let begin = max(segment.start, from)
        let end = min(place + 1 < segments.count ? segments[place + 1].start : to, to)
        for time in [begin, end] {
          let point = ParameterCurve.ControlPoint(
            time: time + shift, value: Float(segment.value(at: time)))
          guard tracks[index].curve.controlPoints.last != point else { continue }
          tracks[index].curve.controlPoints.append(point)
        }
        place += 1
      }
    }
  }
}

// MARK: - Numbers

extension HapticPattern {
  /// The path of the first number that no file can hold, counted within its list, or nothing.
  package var firstNonFinitePath: String? {
    let event = events.firstIndex { event in
      !event.time.isFinite || event.duration?.isFinite == false
        || event.parameters.identifiers.contains { event.parameters[$0]?.isFinite == false }
    }
    if let event { return "events[\(event)]" }
    let parameter = parameters.firstIndex { !$0.time.isFinite || !$0.value.isFinite }
    if let parameter { return "parameters[\(parameter)]" }
    let curve = curves.firstIndex { curve in
      !curve.time.isFinite
        || curve.controlPoints.contains { !$0.time.isFinite || !$0.value.isFinite }
    }
    return curve.map { "curves[\($0)]" }
  }
}

extension InputError {
  /// The refusal of a number that is not finite, by its path.
  init(nonFinite path: String, rule: Rule, name: String = "pattern", errorCode code: Int? = nil) {
    self.init(
      Finding(
        rule, severity: .error, location: FileLocation(name: name, path: path),
        "non-finite numbers (NaN, infinity) cannot be written", errorCode: code))
  }
}

extension HapticComposition {
  package func checkFinite(_ rule: Rule) throws(InputError) {
    for (index, layer) in layers.enumerated() {
      guard let path = layer.pattern.firstNonFinitePath else { continue }
      throw InputError(nonFinite: layers.count > 1 ? "layers[\(index)].\(path)" : path, rule: rule)
    }
  }
}

/// Sound files of samples: RIFF/WAVE with 32-bit floats in one channel.
package enum WaveFile {
  /// The bytes of a file; a rate that is not a whole number is rounded.
  package static func bytes(of samples: [Float], rate: Double) -> [UInt8] {
    let size = UInt32(clamping: samples.count * 4)
    let rate = UInt32(clamping: Int(rate.rounded()))
    var bytes: [UInt8] = []
    bytes.reserveCapacity(samples.count * 4 + 58)
    func append(_ name: String, _ numbers: UInt32...) {
      bytes += name.utf8
      for number in numbers {
        append(number)
      }
    }
    func append(_ number: UInt32) {
      for shift in stride(from: UInt32(0), to: 32, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: number >> shift))
      }
    }
    append("RIFF", size &+ 50)
    // 18 bytes of format: floats in one channel, bytes a second, four bytes of 32 bits a frame, and
    // no more.
    append("WAVEfmt ", 18, 3 | 1 << 16, rate, rate &* 4, 4 | 32 << 16)
    append("\0\0fact", 4, UInt32(clamping: samples.count))
    append("data", size)
    for sample in samples {
      append(sample.bitPattern)
    }
    return bytes
  }
}
