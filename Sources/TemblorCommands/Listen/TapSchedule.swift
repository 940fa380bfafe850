/// Taps that wait for their time on the control side, so that they take no player: a binary heap by frame.
///
/// Adding and taking cost the logarithm of the count; a tap takes 32 bytes.
struct TapSchedule {
  static let maximumCount = 100_000

  /// A tap at a frame.
  struct Tap: Equatable {
    /// The engine's frame.
    var frame: Int64
    var intensity: Float
    var sharpness: Float
    var client: Int
    /// Taps of one frame keep their order.
    var number = 0
  }

  private var heap: [Tap] = []
  private var counts: [Int: Int] = [:]
  private var nextNumber = 0

  var count: Int { heap.count }

  /// The frame of the next.
  var firstFrame: Int64? { heap.first?.frame }

  /// The frame of the last.
  var lastFrame: Int64? { heap.map(\.frame).max() }

  /// Adds a tap; false where its client has too many.
  mutating func add(_ tap: Tap) -> Bool {
    guard counts[tap.client, default: 0] < Self.maximumCount else { return false }
    counts[tap.client, default: 0] += 1
    var tap = tap
    tap.number = nextNumber
    nextNumber += 1
    heap.append(tap)
    rise(heap.count - 1)
    return true
  }

  /// Takes the next tap, if it is due before a frame.
  mutating func take(before frame: Int64) -> Tap? {
    guard let first = heap.first, first.frame < frame else { return nil }
    counts[first.client, default: 1] -= 1
    let last = heap.removeLast()
    if !heap.isEmpty {
      heap[0] = last
      sink(0)
    }
    return first
  }

  mutating func putBack(_ tap: Tap) {
    counts[tap.client, default: 0] += 1
    heap.append(tap)
    rise(heap.count - 1)
  }

  /// Removes what is due at a frame or later.
  mutating func removeAll(from frame: Int64) {
    let kept = heap.filter { $0.frame < frame }
    heap = []
    counts = [:]
    for tap in kept { putBack(tap) }
  }

  private func isBefore(_ one: Int, _ other: Int) -> Bool {
    (heap[one].frame, heap[one].number) < (heap[other].frame, heap[other].number)
  }

  private mutating func rise(_ place: Int) {
    var place = place
    while place > 0, isBefore(place, (place - 1) / 2) {
      heap.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  private mutating func sink(_ place: Int) {
    var place = place
    while true {
      let children = [2 * place + 1, 2 * place + 2].filter { $0 < heap.count }
      guard let least = children.min(by: { isBefore($0, $1) }), isBefore(least, place) else { return }
      heap.swapAt(place, least)
      place = least
    }
  }
}
