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

  private var tapHeap: [Tap] = []
  private var tapCountsByClient: [Int?: Int] = [:]
  private var nextSequenceNumber = 0

  var count: Int { tapHeap.count }
  var firstTapFrame: Int64? { tapHeap.first?.frame }

  /// Adds a tap. Returns false if its client already has too many taps.
  mutating func add(_ tap: Tap) -> Bool {
    guard tapCountsByClient[tap.clientID, default: 0] < Self.maximumTapCount else { return false }
    var numberedTap = tap
    numberedTap.sequenceNumber = nextSequenceNumber
    nextSequenceNumber += 1
    insert(numberedTap)
    return true
  }

  /// Removes and returns the next tap if it is due before a frame.
  mutating func popTap(before frame: Int64) -> Tap? {
    guard let firstTap = tapHeap.first, firstTap.frame < frame else { return nil }
    tapCountsByClient[firstTap.clientID, default: 1] -= 1
    let lastTap = tapHeap.removeLast()
    if !tapHeap.isEmpty {
      tapHeap[0] = lastTap
      siftDown(0)
    }
    return firstTap
  }

  mutating func insert(_ tap: Tap) {
    tapCountsByClient[tap.clientID, default: 0] += 1
    tapHeap.append(tap)
    siftUp(tapHeap.count - 1)
  }

  mutating func removeTaps(from frame: Int64) {
    let keptTaps = tapHeap.filter { $0.frame < frame }
    tapHeap = []
    tapCountsByClient = [:]
    for tap in keptTaps {
      insert(tap)
    }
  }

  private func isTapBefore(_ first: Int, _ second: Int) -> Bool {
    (tapHeap[first].frame, tapHeap[first].sequenceNumber) < (
      tapHeap[second].frame, tapHeap[second].sequenceNumber
    )
  }

  private mutating func siftUp(_ index: Int) {
    var childIndex = index
    while childIndex > 0, isTapBefore(childIndex, (childIndex - 1) / 2) {
      tapHeap.swapAt(childIndex, (childIndex - 1) / 2)
      childIndex = (childIndex - 1) / 2
    }
  }

  private mutating func siftDown(_ index: Int) {
    var parentIndex = index
    while true {
      let children = [2 * parentIndex + 1, 2 * parentIndex + 2].filter { $0 < tapHeap.count }
      guard let first = children.min(by: { isTapBefore($0, $1) }), isTapBefore(first, parentIndex)
      else {
        return
      }
      tapHeap.swapAt(parentIndex, first)
      parentIndex = first
    }
  }
}
