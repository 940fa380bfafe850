import Testing
import UIKit

// This file imports only UIKit, which must export Foundation and its re-exports.

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
