import Glibc
import Reading

/// An open page of the browser.
final class BrowserPage {
  private let browser: Browser
  private let context: String
  private let session: String
  /// The page whose storage this page shares, or nil for a storage of its own.
  private let storageOwner: BrowserPage?

  /// Writes a page to a file and opens it.
  ///
  /// - Parameters:
  ///   - query: The query or fragment of the URL, such as `?seed=7`.
  ///   - width: The width in CSS pixels. A width below 600 emulates a phone.
  ///   - hasScript: True to run the scripts of the page.
  ///   - preparation: A script that runs before those of the page.
  ///   - storageOwner: A page whose storage the page shares, like another tab of one user.
  ///   - browser: The browser, or nil for the shared one.
  init(
    _ html: [UInt8], query: String = "", width: Int = 1_280, height: Int = 900,
    isDark: Bool = false,
    hasScript: Bool = true, preparation: String = "",
    sharingStorageWith storageOwner: BrowserPage? = nil,
    in browser: Browser? = nil
  ) throws {
    self.browser = try browser ?? Browser.shared.get()
    self.storageOwner = storageOwner
    let browser = self.browser
    let contextID =
      try storageOwner?.context ?? browser.call("Target.createBrowserContext")["browserContextId"]?
      .string ?? ""
    context = contextID
    let target = try browser.call("Target.createTarget") {
      $0.writeMember("url", "about:blank")
      $0.writeMember("browserContextId", contextID)
    }
    let id = target["targetId"]?.string ?? ""
    let attachment = try browser.call("Target.attachToTarget") {
      $0.writeMember("targetId", id)
      $0.writeMember("flatten", true)
    }
    session = attachment["sessionId"]?.string ?? ""
    for domain in ["Page", "Runtime", "Log", "Network"] {
      try call("\(domain).enable")
    }
    if !hasScript {
      try call("Emulation.setScriptExecutionDisabled") { $0.writeMember("value", true) }
    }
    if !preparation.isEmpty {
      try call("Page.addScriptToEvaluateOnNewDocument") { $0.writeMember("source", preparation) }
    }
    try resize(width: width, height: height)
    try setMedia(isDark: isDark)
    let path = browser.folder + "/page-\(id).html"
    try Self.write(html, to: path)
    try call("Page.navigate") { $0.writeMember("url", "file://\(path)\(query)") }
    guard hasScript else {
      // The page draws no frame to wait for.
      let deadline = ContinuousClock.now + .milliseconds(Browser.timeoutMilliseconds)
      while try !bool("location.protocol === 'file:' && document.readyState === 'complete'") {
        guard ContinuousClock.now < deadline else {
          throw BrowserError(description: "the page was not loaded in time")
        }
      }
      return
    }
    try wait(for: "location.protocol === 'file:' && document.readyState === 'complete'")
  }

  deinit {
    guard storageOwner == nil else { return }
    _ = try? browser.call("Target.disposeBrowserContext") {
      $0.writeMember("browserContextId", context)
    }
  }

  @discardableResult private func call(
    _ method: String, _ parameters: (inout JSONObjectWriter) -> Void = { _ in }
  )
    throws -> JSONValue
  { try browser.call(method, session: session, parameters) }

  /// Opens the page again, in front of other pages. A page in the background draws no frames.
  func reload() throws {
    try call("Page.bringToFront")
    try evaluate("document.documentElement.dataset.beforeReload = 'true'")
    try call("Page.reload")
    // The page that ends answers with an error.
    let deadline = ContinuousClock.now + .milliseconds(Browser.timeoutMilliseconds)
    let isReloaded =
      "document.readyState === 'complete' && !document.documentElement.dataset.beforeReload"
    while (try? bool(isReloaded)) != true {
      guard ContinuousClock.now < deadline else {
        throw BrowserError(description: "the page was not loaded again in time")
      }
    }
  }

  /// Sets the width of the screen.
  func resize(width: Int, height: Int) throws {
    try call("Emulation.setDeviceMetricsOverride") {
      $0.writeMember("width", width)
      $0.writeMember("height", height)
      $0.writeMember("deviceScaleFactor", 1)
      $0.writeMember("mobile", width < 600)
    }
  }

  /// Sets a preference of the user.
  func setMedia(isDark: Bool, reducesMotion: Bool = true) throws {
    try call("Emulation.setEmulatedMedia") { json in
      json.writeArray("features") { list in
        for (name, value) in [
          ("prefers-color-scheme", isDark ? "dark" : "light"),
          ("prefers-reduced-motion", reducesMotion ? "reduce" : "no-preference"),
        ] {
          list.writeObject {
            $0.writeMember("name", name)
            $0.writeMember("value", value)
          }
        }
      }
    }
  }

  /// Emulates a different medium.
  func setMedia(_ medium: String) throws {
    try call("Emulation.setEmulatedMedia") { $0.writeMember("media", medium) }
  }

  /// Returns the value of an expression, awaiting promises. Throws the exceptions of the script.
  @discardableResult func evaluate(_ expression: String) throws -> JSONValue? {
    let answer = try call("Runtime.evaluate") {
      $0.writeMember("expression", expression)
      $0.writeMember("awaitPromise", true)
      $0.writeMember("returnByValue", true)
    }
    if let details = answer["exceptionDetails"] {
      let message = details["exception"]?["description"]?.string ?? details["text"]?.string
      throw BrowserError(description: "\(expression): \(message ?? "an exception")")
    }
    return answer["result"]?["value"]
  }

  func number(_ expression: String) throws -> Double? { try evaluate(expression)?.number }
  func string(_ expression: String) throws -> String? { try evaluate(expression)?.string }
  func bool(_ expression: String) throws -> Bool { try evaluate(expression)?.boolean ?? false }

  /// Waits until an expression is true, which is evaluated in every frame.
  func wait(for condition: String) throws {
    try evaluate(
      """
      new Promise((resolve) => {
        const check = () => (\(condition)) ? resolve(true) : requestAnimationFrame(check);
        check();
      })
      """)
  }

  /// Presses and releases a key.
  func press(_ key: String, shift: Bool = false, control: Bool = false) throws {
    let codes = [
      "Enter": 13, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
      "ArrowDown": 40, "Tab": 9, "Home": 36,
    ]
    let text = key == "Enter" ? "\r" : (key.count == 1 && !control ? key : "")
    for type in [text.isEmpty ? "rawKeyDown" : "keyDown", "keyUp"] {
      try call("Input.dispatchKeyEvent") {
        $0.writeMember("type", type)
        $0.writeMember("key", key)
        if type == "keyDown" {
          $0.writeMember("text", text)
        }
        if let code = codes[key] {
          $0.writeMember("windowsVirtualKeyCode", code)
        }
        $0.writeMember("modifiers", (shift ? 8 : 0) + (control ? 2 : 0))
      }
    }
  }

  /// Moves the pointer, optionally with its button pressed.
  func point(_ type: String, x: Double, y: Double) throws {
    try call("Input.dispatchMouseEvent") {
      $0.writeMember("type", type)
      $0.writeMember("x", x)
      $0.writeMember("y", y)
      $0.writeMember("button", type == "mouseMoved" ? "none" : "left")
      $0.writeMember("clickCount", type == "mouseMoved" ? 0 : 1)
    }
  }

  /// Clicks at a point, or drags from it to other points.
  func drag(_ positions: (x: Double, y: Double)...) throws {
    guard let first = positions.first, let last = positions.last else { return }
    try point("mouseMoved", x: first.x, y: first.y)
    try point("mousePressed", x: first.x, y: first.y)
    for position in positions.dropFirst() {
      try point("mouseMoved", x: position.x, y: position.y)
    }
    try point("mouseReleased", x: last.x, y: last.y)
  }

  /// Scrolls the first element of a selector into view and clicks its center.
  func click(_ selector: String) throws {
    let box = try boundingBox(of: selector)
    try drag((box.x + box.width / 2, box.y + box.height / 2))
  }

  /// Scrolls an element into view and returns its rectangle.
  func boundingBox(of selector: String) throws -> (
    x: Double, y: Double, width: Double, height: Double
  ) {
    let text = try string(
      """
      (() => {
        const element = document.querySelector(`\(selector)`);
        element.scrollIntoView({ block: "center", behavior: "instant" });
        const box = element.getBoundingClientRect();
        return [box.x, box.y, box.width, box.height].join(" ");
      })()
      """)
    let values = (text ?? "").split(separator: " ").compactMap { Double($0) }
    guard values.count == 4 else { throw BrowserError(description: "no \(selector)") }
    return (values[0], values[1], values[2], values[3])
  }

  /// Returns a screenshot as PNG in Base64.
  func screenshot() throws -> String { try call("Page.captureScreenshot")["data"]?.string ?? "" }

  /// Returns the printed page as PDF in Base64.
  func print() throws -> String {
    try call("Page.printToPDF") { $0.writeMember("printBackground", true) }["data"]?.string ?? ""
  }

  /// Returns the errors of the page: exceptions, console errors, and policy violations.
  var errorMessages: [String] {
    browser.events(of: session).compactMap { event in
      let parameters = event["params"]
      switch event["method"]?.string {
      case "Runtime.exceptionThrown":
        return parameters?["exceptionDetails"]?["exception"]?["description"]?.string ?? "exception"
      case "Runtime.consoleAPICalled":
        return parameters?["args"]?.elements.first { _ in true }?["value"]?.string ?? "console"
      case "Log.entryAdded":
        return parameters?["entry"]?["text"]?.string ?? "log"
      default:
        return nil
      }
    }
  }

  /// Returns the requested URLs, except those within the page.
  var requests: [String] {
    browser.events(of: session).compactMap { event in
      guard event["method"]?.string == "Network.requestWillBeSent" else { return nil }
      let address = event["params"]?["request"]?["url"]?.string ?? ""
      return address.hasPrefix("data:") ? nil : address
    }
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    var writtenCount = 0
    while writtenCount < bytes.count {
      let count = unsafe bytes.withUnsafeBufferPointer {
        unsafe Glibc.write(
          descriptor, $0.baseAddress?.advanced(by: writtenCount), bytes.count - writtenCount)
      }
      guard count > 0 else { throw BrowserError(description: "\(path) cannot be written") }
      writtenCount += count
    }
  }
}
