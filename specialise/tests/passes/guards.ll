; Whether there is room for the next four bytes is asked again and again: one question is left for all.
define i32 @room(ptr %bytes, i32 %size) {
entry:
  %none = icmp ult i32 %size, 4
  br i1 %none, label %out, label %first
first:
  %a = load i32, ptr %bytes, align 4
  %rest = add i32 %size, -4
  %few = icmp ult i32 %rest, 4
  br i1 %few, label %out, label %second
second:
  %at = getelementptr i8, ptr %bytes, i64 4
  %b = load i32, ptr %at, align 4
  %wrong = icmp ne i32 %b, 7
  br i1 %wrong, label %out, label %third
third:
  %last = add i32 %rest, -4
  %enough = icmp ult i32 3, %last
  br i1 %enough, label %done, label %out
done:
  ret i32 %a
out:
  ret i32 0
}

; Neither less nor more is left of a range of one number.
define i32 @one(i32 %number) {
entry:
  %less = icmp ult i32 %number, 2048
  br i1 %less, label %out, label %first
first:
  %more = icmp ugt i32 %number, 2048
  br i1 %more, label %out, label %done
done:
  ret i32 1
out:
  ret i32 0
}

; Two questions in one condition.
define i32 @both(i32 %size) {
  %none = icmp ugt i32 12, %size
  %rest = sub i32 %size, 12
  %few = icmp ult i32 %rest, 2
  %short = select i1 %none, i1 true, i1 %few
  br i1 %short, label %out, label %done
done:
  ret i32 1
out:
  ret i32 0
}

; What is stored before the second question must be stored.
define i32 @stored(ptr %bytes, i32 %size) {
entry:
  %none = icmp ult i32 %size, 4
  br i1 %none, label %out, label %first
first:
  store i32 1, ptr %bytes, align 4
  %few = icmp ult i32 %size, 8
  br i1 %few, label %out, label %done
done:
  ret i32 1
out:
  ret i32 0
}

; Each way out has a result of its own.
define i32 @told(ptr %bytes, i32 %size) {
entry:
  %none = icmp ult i32 %size, 4
  br i1 %none, label %out, label %first
first:
  %a = load i32, ptr %bytes, align 4
  %few = icmp ult i32 %size, 8
  br i1 %few, label %out, label %done
done:
  ret i32 %a
out:
  %why = phi i32 [ -1, %entry ], [ -2, %first ]
  ret i32 %why
}

; A test of something else lies between, which brings another result to the same way out: the third stays.
define i32 @between(ptr %bytes, i32 %size) {
entry:
  %none = icmp ult i32 %size, 4
  br i1 %none, label %out, label %first
first:
  %a = load i32, ptr %bytes, align 4
  %seven = icmp eq i32 %a, 7
  br i1 %seven, label %out, label %second
second:
  %few = icmp ult i32 %size, 8
  br i1 %few, label %out, label %done
done:
  ret i32 %a
out:
  %why = phi i32 [ -1, %entry ], [ -2, %first ], [ -1, %second ]
  ret i32 %why
}
