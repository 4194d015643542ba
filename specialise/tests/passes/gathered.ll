declare i32 @llvm.bswap.i32(i32)

; The sum of all words stands in front of them, but nothing holds the words back until it is known.
define i32 @summed(ptr noalias %to, ptr noalias %from) {
  %f1 = getelementptr i8, ptr %from, i64 4
  %f2 = getelementptr i8, ptr %from, i64 8
  %f3 = getelementptr i8, ptr %from, i64 12
  %f4 = getelementptr i8, ptr %from, i64 16
  %f5 = getelementptr i8, ptr %from, i64 20
  %f6 = getelementptr i8, ptr %from, i64 24
  %f7 = getelementptr i8, ptr %from, i64 28
  %f8 = getelementptr i8, ptr %from, i64 32
  %f9 = getelementptr i8, ptr %from, i64 36
  %f10 = getelementptr i8, ptr %from, i64 40
  %f11 = getelementptr i8, ptr %from, i64 44
  %f12 = getelementptr i8, ptr %from, i64 48
  %f13 = getelementptr i8, ptr %from, i64 52
  %f14 = getelementptr i8, ptr %from, i64 56
  %f15 = getelementptr i8, ptr %from, i64 60
  %v0 = load i32, ptr %from, align 4
  %v1 = load i32, ptr %f1, align 4
  %v2 = load i32, ptr %f2, align 4
  %v3 = load i32, ptr %f3, align 4
  %v4 = load i32, ptr %f4, align 4
  %v5 = load i32, ptr %f5, align 4
  %v6 = load i32, ptr %f6, align 4
  %v7 = load i32, ptr %f7, align 4
  %v8 = load i32, ptr %f8, align 4
  %v9 = load i32, ptr %f9, align 4
  %v10 = load i32, ptr %f10, align 4
  %v11 = load i32, ptr %f11, align 4
  %v12 = load i32, ptr %f12, align 4
  %v13 = load i32, ptr %f13, align 4
  %v14 = load i32, ptr %f14, align 4
  %v15 = load i32, ptr %f15, align 4
  %w0 = call i32 @llvm.bswap.i32(i32 %v0)
  %w1 = call i32 @llvm.bswap.i32(i32 %v1)
  %w2 = call i32 @llvm.bswap.i32(i32 %v2)
  %w3 = call i32 @llvm.bswap.i32(i32 %v3)
  %w4 = call i32 @llvm.bswap.i32(i32 %v4)
  %w5 = call i32 @llvm.bswap.i32(i32 %v5)
  %w6 = call i32 @llvm.bswap.i32(i32 %v6)
  %w7 = call i32 @llvm.bswap.i32(i32 %v7)
  %w8 = call i32 @llvm.bswap.i32(i32 %v8)
  %w9 = call i32 @llvm.bswap.i32(i32 %v9)
  %w10 = call i32 @llvm.bswap.i32(i32 %v10)
  %w11 = call i32 @llvm.bswap.i32(i32 %v11)
  %w12 = call i32 @llvm.bswap.i32(i32 %v12)
  %w13 = call i32 @llvm.bswap.i32(i32 %v13)
  %w14 = call i32 @llvm.bswap.i32(i32 %v14)
  %w15 = call i32 @llvm.bswap.i32(i32 %v15)
  %s0 = add i32 7, %w0
  %s1 = add i32 %s0, %w1
  %s2 = add i32 %s1, %w2
  %s3 = add i32 %s2, %w3
  %s4 = add i32 %s3, %w4
  %s5 = add i32 %s4, %w5
  %s6 = add i32 %s5, %w6
  %s7 = add i32 %s6, %w7
  %s8 = add i32 %s7, %w8
  %s9 = add i32 %s8, %w9
  %s10 = add i32 %s9, %w10
  %s11 = add i32 %s10, %w11
  %s12 = add i32 %s11, %w12
  %s13 = add i32 %s12, %w13
  %s14 = add i32 %s13, %w14
  %s15 = add i32 %s14, %w15
  store i32 %s15, ptr %to, align 4
  %t0 = getelementptr i8, ptr %to, i64 4
  store i32 %w0, ptr %t0, align 4
  %t1 = getelementptr i8, ptr %to, i64 8
  store i32 %w1, ptr %t1, align 4
  %t2 = getelementptr i8, ptr %to, i64 12
  store i32 %w2, ptr %t2, align 4
  %t3 = getelementptr i8, ptr %to, i64 16
  store i32 %w3, ptr %t3, align 4
  %t4 = getelementptr i8, ptr %to, i64 20
  store i32 %w4, ptr %t4, align 4
  %t5 = getelementptr i8, ptr %to, i64 24
  store i32 %w5, ptr %t5, align 4
  %t6 = getelementptr i8, ptr %to, i64 28
  store i32 %w6, ptr %t6, align 4
  %t7 = getelementptr i8, ptr %to, i64 32
  store i32 %w7, ptr %t7, align 4
  %t8 = getelementptr i8, ptr %to, i64 36
  store i32 %w8, ptr %t8, align 4
  %t9 = getelementptr i8, ptr %to, i64 40
  store i32 %w9, ptr %t9, align 4
  %t10 = getelementptr i8, ptr %to, i64 44
  store i32 %w10, ptr %t10, align 4
  %t11 = getelementptr i8, ptr %to, i64 48
  store i32 %w11, ptr %t11, align 4
  %t12 = getelementptr i8, ptr %to, i64 52
  store i32 %w12, ptr %t12, align 4
  %t13 = getelementptr i8, ptr %to, i64 56
  store i32 %w13, ptr %t13, align 4
  %t14 = getelementptr i8, ptr %to, i64 60
  store i32 %w14, ptr %t14, align 4
  %t15 = getelementptr i8, ptr %to, i64 64
  store i32 %w15, ptr %t15, align 4
  ret i32 %s15
}

; Here every store may change what is loaded after it: nothing moves.
define i32 @overlapping(ptr %to, ptr %from) {
  %f1 = getelementptr i8, ptr %from, i64 4
  %f2 = getelementptr i8, ptr %from, i64 8
  %f3 = getelementptr i8, ptr %from, i64 12
  %f4 = getelementptr i8, ptr %from, i64 16
  %f5 = getelementptr i8, ptr %from, i64 20
  %f6 = getelementptr i8, ptr %from, i64 24
  %f7 = getelementptr i8, ptr %from, i64 28
  %f8 = getelementptr i8, ptr %from, i64 32
  %f9 = getelementptr i8, ptr %from, i64 36
  %f10 = getelementptr i8, ptr %from, i64 40
  %f11 = getelementptr i8, ptr %from, i64 44
  %f12 = getelementptr i8, ptr %from, i64 48
  %f13 = getelementptr i8, ptr %from, i64 52
  %f14 = getelementptr i8, ptr %from, i64 56
  %f15 = getelementptr i8, ptr %from, i64 60
  %v0 = load i32, ptr %from, align 4
  %v1 = load i32, ptr %f1, align 4
  %v2 = load i32, ptr %f2, align 4
  %v3 = load i32, ptr %f3, align 4
  %v4 = load i32, ptr %f4, align 4
  %v5 = load i32, ptr %f5, align 4
  %v6 = load i32, ptr %f6, align 4
  %v7 = load i32, ptr %f7, align 4
  %v8 = load i32, ptr %f8, align 4
  %v9 = load i32, ptr %f9, align 4
  %v10 = load i32, ptr %f10, align 4
  %v11 = load i32, ptr %f11, align 4
  %v12 = load i32, ptr %f12, align 4
  %v13 = load i32, ptr %f13, align 4
  %v14 = load i32, ptr %f14, align 4
  %v15 = load i32, ptr %f15, align 4
  %s0 = add i32 7, %v0
  %s1 = add i32 %s0, %v1
  %s2 = add i32 %s1, %v2
  %s3 = add i32 %s2, %v3
  %s4 = add i32 %s3, %v4
  %s5 = add i32 %s4, %v5
  %s6 = add i32 %s5, %v6
  %s7 = add i32 %s6, %v7
  %s8 = add i32 %s7, %v8
  %s9 = add i32 %s8, %v9
  %s10 = add i32 %s9, %v10
  %s11 = add i32 %s10, %v11
  %s12 = add i32 %s11, %v12
  %s13 = add i32 %s12, %v13
  %s14 = add i32 %s13, %v14
  %s15 = add i32 %s14, %v15
  store i32 %s15, ptr %to, align 4
  %t0 = getelementptr i8, ptr %to, i64 4
  store i32 %v0, ptr %t0, align 4
  %t1 = getelementptr i8, ptr %to, i64 8
  store i32 %v1, ptr %t1, align 4
  %t2 = getelementptr i8, ptr %to, i64 12
  store i32 %v2, ptr %t2, align 4
  %t3 = getelementptr i8, ptr %to, i64 16
  store i32 %v3, ptr %t3, align 4
  %t4 = getelementptr i8, ptr %to, i64 20
  store i32 %v4, ptr %t4, align 4
  %t5 = getelementptr i8, ptr %to, i64 24
  store i32 %v5, ptr %t5, align 4
  %t6 = getelementptr i8, ptr %to, i64 28
  store i32 %v6, ptr %t6, align 4
  %t7 = getelementptr i8, ptr %to, i64 32
  store i32 %v7, ptr %t7, align 4
  %t8 = getelementptr i8, ptr %to, i64 36
  store i32 %v8, ptr %t8, align 4
  %t9 = getelementptr i8, ptr %to, i64 40
  store i32 %v9, ptr %t9, align 4
  %t10 = getelementptr i8, ptr %to, i64 44
  store i32 %v10, ptr %t10, align 4
  %t11 = getelementptr i8, ptr %to, i64 48
  store i32 %v11, ptr %t11, align 4
  %t12 = getelementptr i8, ptr %to, i64 52
  store i32 %v12, ptr %t12, align 4
  %t13 = getelementptr i8, ptr %to, i64 56
  store i32 %v13, ptr %t13, align 4
  %t14 = getelementptr i8, ptr %to, i64 60
  store i32 %v14, ptr %t14, align 4
  %t15 = getelementptr i8, ptr %to, i64 64
  store i32 %v15, ptr %t15, align 4
  ret i32 %s15
}
