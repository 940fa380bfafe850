public import HapticModel
public import Reading

/// A loss of information in reading or writing.
public struct Loss: Equatable, Sendable {
  /// The extent of a loss.
  public enum Kind: String, Sendable {
    /// The content is present, but not exact.
    case approximated
    /// The content is missing.
    case dropped
  }

  /// The extent of the loss.
  public var kind: Kind
  /// The part concerned, or the whole composition.
  public var element: CompositionElement
  /// The location in the source file, or nil for that of the part.
  public var location: FileLocation?
  /// One sentence without a period, with the size if there is one.
  public var message: String
  /// The size of the difference in the unit of the message, or nil.
  public var size: Double?

  /// Creates a loss.
  ///
  /// - Parameters:
  ///   - kind: The extent of the loss.
  ///   - element: The part concerned.
  ///   - location: The location in the source file, or nil for that of the part.
  ///   - message: One sentence without a period.
  ///   - size: The size of the difference in the unit of the message, or nil.
  public init(
    _ kind: Kind, _ element: CompositionElement, at location: FileLocation? = nil, _ message: String,
    size: Double? = nil
  ) {
    self.kind = kind
    self.element = element
    self.location = location
    self.message = message
    self.size = size
  }
}

/// The losses of one reading or writing.
///
/// Equal losses of one part are joined, with the largest size. Losses with the same message beyond
/// a maximum are only counted. A `#` in a message stands for the size.
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

  package init(maximumCountPerMessage: Int = 1000) { self.maximumCountPerMessage = maximumCountPerMessage }

  /// Adds a loss, or raises the size of an equal one.
  ///
  /// - Parameters:
  ///   - kind: The extent of the loss.
  ///   - element: The part concerned.
  ///   - location: The location in the source file, or nil for that of the part.
  ///   - message: One sentence; `#` stands for the size.
  ///   - size: The size of the difference, or nil.
  package mutating func add(
    _ kind: Loss.Kind, _ element: CompositionElement, at location: FileLocation? = nil,
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
    losses.append(Loss(kind, element, at: location, message, size: size))
  }

  /// Returns the losses in the order of addition, followed by the counts of those that were
  /// omitted.
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

  /// Returns the message of a loss with its size to three digits.
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

  /// Adds the losses of a format that has only haptic events: audio events, sampled signals,
  /// controls that last longer than all events, and body locations.
  package mutating func addNonHapticLosses(
    of composition: HapticComposition, keepsBodyLocations: Bool = false
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
    if !keepsBodyLocations {
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
  /// The maximum number of events of an unrolled loop.
  package static let maximumUnrolledEventCount = 1_000_000

  /// Returns the composition without loop points, with its loop repeated.
  ///
  /// The first pass begins at 0, each further one at the start of the loop, with the events and the
  /// control values at that time. Events that extend beyond the end of a pass are shortened.
  ///
  /// - Parameters:
  ///   - passCount: The number of passes. It is reduced if there would be too many events.
  ///   - losses: Receives a loss, since a loop is endless.
  /// - Returns: The unrolled composition, or the same composition if it has no loop.
  package func unrolled(passCount: Int, losses: inout LossLog) -> HapticComposition {
    guard let loop else { return self }
    var composition = self
    composition.loop = nil
    let end = loop.end ?? duration
    let start = min(max(loop.start, 0), end)
    let events = max(layers.reduce(0) { $0 + $1.pattern.events.count }, 1)
    let passes =
      end > start ? min(max(passCount, 1), max(Self.maximumUnrolledEventCount / events, 1)) : 1
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
  /// Returns the part of the event between two times, or nil if there is none.
  fileprivate func clipped(from: Double, to: Double, isFirstPass: Bool) -> HapticEvent? {
    guard time < to || (time == to && isFirstPass && kind.isTransient) else { return nil }
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

/// The controls of one layer over all passes, as one curve each.
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
  /// The path of the first non-finite number, or nil.
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
  /// Creates the error for a non-finite number.
  ///
  /// - Parameters:
  ///   - path: The path of the number.
  ///   - rule: The violated rule.
  ///   - name: The name of the pattern in messages.
  ///   - errorCode: The code of the same error in another API.
  init(nonFinite path: String, rule: Rule, name: String = "pattern", errorCode: Int? = nil) {
    self.init(
      Finding(
        rule, severity: .error, location: FileLocation(name: name, path: path),
        "non-finite numbers (NaN, infinity) cannot be written", errorCode: errorCode))
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

/// WAVE files with 32-bit floating-point samples in one channel.
package enum WaveFile {
  /// Returns the bytes of a file. The rate is rounded to a whole number.
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
    // A format chunk of 18 bytes: IEEE float in one channel, the rate, the bytes per second, 4
    // bytes and 32 bits per frame, and no extension.
    append("WAVEfmt ", 18, 3 | 1 << 16, rate, rate &* 4, 4 | 32 << 16)
    append("\0\0fact", 4, UInt32(clamping: samples.count))
    append("data", size)
    for sample in samples {
      append(sample.bitPattern)
    }
    return bytes
  }
}
