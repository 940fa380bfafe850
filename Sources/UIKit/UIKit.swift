@_exported public import FeedbackGenerators
@_exported public import Foundation
