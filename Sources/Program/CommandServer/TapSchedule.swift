/// The scheduled taps that do not have a player yet. They form a binary heap, ordered by frame,
/// with 32 bytes for each tap.
struct TapSchedule {
  static let maximumTapCount = 100_000

  struct Tap: Equatable {
    var frame: Int64
    var intensity: Float
    var sharpness: Float
    var clientID: Int?
    /// The number that orders taps with the same frame.
    var sequenceNumber = 0
  }

  private var heap: [Tap] = []
  private var countsByClient: [Int?: Int] = [:]
  private var nextSequenceNumber = 0

  var count: Int { heap.count }
  var firstFrame: Int64? { heap.first?.frame }

  /// Adds a tap. Returns false if its client already has too many taps.
  mutating func add(_ tap: Tap) -> Bool {
    guard countsByClient[tap.clientID, default: 0] < Self.maximumTapCount else { return false }
    var tap = tap
    tap.sequenceNumber = nextSequenceNumber
    nextSequenceNumber += 1
    insert(tap)
    return true
  }

  /// Removes and returns the next tap if it is due before a frame.
  mutating func pop(before frame: Int64) -> Tap? {
    guard let first = heap.first, first.frame < frame else { return nil }
    countsByClient[first.clientID, default: 1] -= 1
    let last = heap.removeLast()
    if !heap.isEmpty {
      heap[0] = last
      siftDown(0)
    }
    return first
  }

  mutating func insert(_ tap: Tap) {
    countsByClient[tap.clientID, default: 0] += 1
    heap.append(tap)
    siftUp(heap.count - 1)
  }

  mutating func removeAll(from frame: Int64) {
    let kept = heap.filter { $0.frame < frame }
    heap = []
    countsByClient = [:]
    for tap in kept {
      insert(tap)
    }
  }

  private func isBefore(_ first: Int, _ second: Int) -> Bool {
    (heap[first].frame, heap[first].sequenceNumber) < (
      heap[second].frame, heap[second].sequenceNumber
    )
  }

  private mutating func siftUp(_ index: Int) {
    var index = index
    while index > 0, isBefore(index, (index - 1) / 2) {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func siftDown(_ index: Int) {
    var index = index
    while true {
      let children = [2 * index + 1, 2 * index + 2].filter { $0 < heap.count }
      guard let first = children.min(by: { isBefore($0, $1) }), isBefore(first, index) else {
        return
      }
      heap.swapAt(index, first)
      index = first
    }
  }
}
