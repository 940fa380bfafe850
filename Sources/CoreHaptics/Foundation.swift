// Files that import Core Haptics alone use Foundation's types: on Apple's systems frameworks pass
// on what their headers import.
@_exported public import Foundation
