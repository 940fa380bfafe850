public import Reading
public import HapticModel

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
  public var place: SourcePlace?
  /// One sentence, with its size where it has one, and without a full stop.
  public var message: String
  /// How large the difference is, in the unit the message names, or nil.
  public var size: Double?

  /// Makes a loss.
  public init(
    _ kind: Kind, _ element: CompositionElement, at place: SourcePlace? = nil, _ message: String, size: Double? = nil
  ) {
    self.kind = kind
    self.element = element
    self.place = place
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

  /// How many losses with one sentence are kept.
  package let limit: Int
  private(set) var losses: [Loss] = []
  private var indices: [Key: Int] = [:]
  private var counts: [String: Int] = [:]

  package init(limit: Int = 1000) { self.limit = limit }

  /// Adds a loss, or makes the one there is as large as this.
  package mutating func add(
    _ kind: Loss.Kind, _ element: CompositionElement, at place: SourcePlace? = nil, _ message: String,
    size: Double? = nil
  ) {
    let key = Key(kind: kind, element: element, message: message)
    if let index = indices[key] {
      if let size { losses[index].size = max(losses[index].size ?? size, size) }
      return
    }
    counts[message, default: 0] += 1
    guard counts[message, default: 0] <= limit else { return }
    indices[key] = losses.count
    losses.append(Loss(kind, element, at: place, message, size: size))
  }

  /// The losses in the order in which they were added, each sentence that was cut closed by a count
  /// of the others.
  package func finish() -> [Loss] {
    let uncounted = counts.filter { $0.value > limit }.sorted { $0.key < $1.key }
    let closing = uncounted.map { message, count in
      let last = losses.last { $0.message == message } ?? Loss(.dropped, .composition, message)
      return Loss(last.kind, .composition, "\(count - limit) more: \(Self.sentence(of: last))")
    }
    return losses.map { loss in
      var loss = loss
      loss.message = Self.sentence(of: loss)
      return loss
    } + closing
  }

  /// The message of a loss with its size to three digits.
  private static func sentence(of loss: Loss) -> String {
    guard let size = loss.size, size.isFinite, loss.message.contains("#") else { return loss.message }
    var scale = 1.0
    while abs(size) * scale < 100, scale < 1e9 { scale *= 10 }
    let rounded = (size * scale).rounded() / scale
    let text = abs(rounded) < 1e15 && rounded == rounded.rounded() ? "\(Int64(rounded))" : "\(rounded)"
    return loss.message.split(separator: "#", omittingEmptySubsequences: false).joined(separator: text)
  }

  /// Adds the losses of a title and notes.
  package mutating func dropWords(of composition: HapticComposition) {
    if composition.title != nil { add(.dropped, .composition, "the title cannot be written") }
    if composition.notes != nil { add(.dropped, .composition, "the notes cannot be written") }
  }

  /// Adds the losses of formats of haptic events alone: events that play sound, sampled signals, controls that last
  /// longer than all events, and places.
  package mutating func dropAllButHaptics(of composition: HapticComposition, keepsPlaces: Bool = false) {
    dropAudio(of: composition)
    if !keepsPlaces { mergePlaces(of: composition) }
    var end = 0.0
    for layer in composition.layers {
      for event in layer.pattern.events { end = max(end, event.time + (event.duration ?? 0)) }
      for signal in layer.signals { end = max(end, signal.time + signal.duration) }
    }
    if composition.duration > end + 1e-3, end.isFinite {
      add(
        .dropped, .composition, "the length beyond the last event, # s of controls alone",
        size: composition.duration - end)
    }
  }

  /// Adds a loss for every layer that is felt at one of several places.
  package mutating func mergePlaces(of composition: HapticComposition) {
    for (layer, each) in composition.layers.enumerated() {
      guard let place = each.place else { continue }
      add(.approximated, .layer(layer), "what is felt at \(place.title) alone is felt everywhere")
    }
  }

  /// Adds a loss for every event that plays sound, and for every layer with sampled signals.
  package mutating func dropAudio(of composition: HapticComposition) {
    for (layer, each) in composition.layers.enumerated() {
      for (index, event) in each.pattern.events.enumerated() where !event.kind.isHaptic {
        add(.dropped, .event(EventReference(layer: layer, event: index)), "audio events cannot be written")
      }
      if !each.signals.isEmpty { add(.dropped, .layer(layer), "sampled signals cannot be written") }
    }
  }
}
