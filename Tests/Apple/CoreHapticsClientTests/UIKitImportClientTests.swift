import Testing
import UIKit

// UIKit is the only framework this file imports; what Foundation passes on must come with it.

@MainActor @Observable private final class Counter {
  var taps = 0
}

@MainActor @Suite struct UIKitImportClientTests {
  @Test func observationComesWithUIKit() async {
    let counter = Counter()
    await confirmation { changed in
      withObservationTracking({ _ = counter.taps }, onChange: { changed() })
      counter.taps += 1
    }
  }
}
