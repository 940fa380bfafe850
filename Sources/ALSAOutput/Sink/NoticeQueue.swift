internal import HapticPlayback

/// Notices that wait to be taken: a bounded number, so that a device in trouble cannot flood.
struct NoticeQueue {
  /// Notices that are kept; of what comes beyond, each kind is counted.
  static let capacity = 16

  private var notices: [SinkEvent] = []
  private var surplus = 0
  private var surplusFrames = 0

  /// An empty queue, with all its memory.
  init() { notices.reserveCapacity(Self.capacity + 1) }

  /// Adds a notice. When the queue is full, only its frames are kept; losing and finding a device, and the
  /// end, always find a place.
  mutating func add(_ kind: SinkEvent.Kind, missedFrameCount: Int = 0, text: String) {
    if notices.count >= Self.capacity {
      guard kind != .underrun, kind != .suspended,
        let index = notices.firstIndex(where: { $0.kind == .underrun || $0.kind == .suspended })
          ?? notices.indices.first
      else {
        surplus += 1
        surplusFrames += missedFrameCount
        return
      }
      surplus += 1
      surplusFrames += notices.remove(at: index).missedFrameCount
    }
    notices.append(SinkEvent(kind, missedFrameCount: missedFrameCount, text: text))
  }

  /// Takes all, oldest first; the number of those that found no place comes last.
  mutating func take() -> [SinkEvent] {
    guard !notices.isEmpty else { return [] }
    var taken = notices
    if surplus > 0 {
      taken.append(
        SinkEvent(
          .degraded, missedFrameCount: surplusFrames,
          text: "\(surplus) more interruptions in the same time"))
    }
    notices.removeAll(keepingCapacity: true)
    surplus = 0
    surplusFrames = 0
    return taken
  }
}
